import TestSupport
import Testing

@testable import APNSClient

@Suite("The pages about connections and tokens", .timeLimit(.minutes(1)))
struct PageTests {
    @Test("Answers says after how many bad answers a connection is left")
    func connections() throws {
        typealias Machine = APNSConnectionStateMachine
        let rows = try Page(documentation: "Answers").rows("answer", in: "What becomes of the connection")
        let words = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        #expect(words["a server error (5xx)"] == "is left after \(Machine.serverErrorLimit) in a row")
        let minutes = Machine.strikeWindow.components.seconds / 60
        #expect(words["no answer"] == "is left after \(Machine.strikeLimit) within \(minutes) min")
        let refusals = "is left after \(Machine.refusalLimit) without any answer between them"
        #expect(words["refused streams"] == refusals)
    }

    @Test("Credentials says when a new token is made, and how long none is")
    func tokens() throws {
        let page = try Page(documentation: "Credentials")
        let lifetime = ProviderTokenSchedule.lifetime / 60
        #expect(page.text(of: "Tokens").contains("A new token is made every \(lifetime) minutes."))
        let rows = page.rows("answer", in: "When APNs refuses one")
        let late = try #require(rows.first { $0[0] == "`TooManyProviderTokenUpdates`" })
        let pause = CredentialRotation.tokenUpdateRetry.components.seconds / 60
        #expect(late[1].hasSuffix("a new credential is tried again after \(pause) minutes"))
    }
}
