import Testing
import Topology

@Suite("Users whose names begin alike", .timeLimit(.minutes(1)))
struct UserPermissionsTests {
    /// The permissions that earlier versions gave to a producer.
    private func earlier(_ user: String) -> UserPermissions {
        let own = "apns\\.q\\.reply\\.\(user.replacing(".", with: "\\."))\\..+"
        return UserPermissions(
            user: user, configure: "^\(own)$", write: "^(apns\\.jobs|\(own))$", read: "^(apns\\.replies|\(own))$")
    }

    private func now(_ user: String) -> UserPermissions {
        let own = BrokerRole.producer.permissions(user: user)
        return UserPermissions(user: user, configure: own.configure, write: own.write, read: own.read)
    }

    private func overlaps(_ all: [UserPermissions]) -> [String] {
        UserPermissions.overlaps(among: all, virtualHost: "/")
    }

    @Test("A producer's reply queues are its own, also where another user's name is its name, a dot and more")
    func apart() {
        #expect(overlaps([now("shop"), now("shop.eu"), now("shop.eu.2")]).isEmpty)
        #expect(overlaps([now("shop"), earlier("shop.eu")]).isEmpty)
    }

    @Test("A user of earlier versions that reaches another's queues is named, with the command that mends it")
    func named() throws {
        let found = overlaps([earlier("shop.eu"), earlier("shop"), earlier("shopper")])
        #expect(found.count == 1)
        let sentence = try #require(found.first)
        #expect(sentence.hasPrefix("the user shop may read and delete the reply queues of the user shop.eu"))
        #expect(
            sentence.hasSuffix(
                #"rabbitmqctl set_permissions -p / shop '^apns\.q\.reply\.shop\.[^.]+$' "#
                    + #"'^(apns\.jobs|apns\.q\.reply\.shop\.[^.]+)$' '^(apns\.replies|apns\.q\.reply\.shop\.[^.]+)$'"#),
            "\(sentence)")
    }

    @Test("A user that may do everything is no producer, and an expression that cannot be read covers nothing")
    func others() {
        let all = UserPermissions(user: "shop", configure: ".*", write: "", read: ".*")
        let broken = UserPermissions(user: "shop", configure: "(", write: "(", read: "(")
        #expect(overlaps([all, now("shop.eu")]).isEmpty)
        #expect(overlaps([broken, now("shop.eu")]).isEmpty)
        let endless = "^(([a-z.]+)+[!-])+$"
        let slow = UserPermissions(user: "shop", configure: endless, write: endless, read: endless)
        let long = now("shop.\(String(repeating: "a", count: 200))")
        #expect(overlaps([slow, long]).isEmpty)
    }
}
