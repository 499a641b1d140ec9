import PushModel
import RabbitMQ
import Testing

@testable import MartletCommands

@Suite("The management API's address", .timeLimit(.minutes(1)))
struct ManagementAddressTests {
    @Test(
        "An address without a password takes the broker's, if the user is the same one",
        arguments: [
            ("https://me@h:15671/p", "https://me:p%40ss@h:15671/p"), ("https://m%65@[::1]", "https://me:p%40ss@[::1]"),
            ("https://you@h:15671", "https://you@h:15671"), ("https://me:own@h:15671", "https://me:own@h:15671"),
            // The password that goes to the broker encrypted does not cross the network in plaintext here.
            ("http://me@h", "http://me@h"), ("http://me@127.0.0.1", "http://me:p%40ss@127.0.0.1"),
            ("https://me:@h", "https://me:@h"), ("https://h:15671", "https://h:15671"), ("nonsense", "nonsense"),
        ])
    func password(_ address: String, _ expected: String) {
        var endpoint = AMQPEndpoint(host: "mq", useTLS: true)
        (endpoint.user, endpoint.password) = ("me", "p@ss")
        #expect(ManagementAddress.complete(SecretText(address), beside: endpoint)?.revealed == expected)
    }

    @Test(
        "Without an address it is beside the broker, with the broker's login",
        arguments: [
            ("amqp://u:p%40@h:1234/v", "http://u:p%40@h:15672"), ("amqps://[::1]", "https://guest:guest@[::1]:15671"),
        ])
    func usual(_ uri: String, _ expected: String) throws {
        let endpoint = try AMQPEndpoint.parse(uri: uri)
        #expect(ManagementAddress.complete(nil, beside: endpoint)?.revealed == expected)
    }

    @Test("A client certificate gives no login: a given address stays, and without one there is none")
    func certificate() {
        var endpoint = AMQPEndpoint(host: "h", useTLS: true)
        endpoint.saslExternal = true
        #expect(ManagementAddress.complete(nil, beside: endpoint) == nil)
        #expect(
            ManagementAddress.complete(SecretText("https://guest@h"), beside: endpoint)?.revealed == "https://guest@h")
    }
}
