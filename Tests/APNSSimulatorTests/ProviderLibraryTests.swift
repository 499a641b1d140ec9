import Foundation
import TLS
import Testing
import Text

@testable import APNSSimulator

/// Two libraries in wide use, unmodified but for address and trust: what they make of the simulator's answers, and what
/// the simulator saw of theirs.
@Suite("Other people's provider libraries", .timeLimit(.minutes(2)))
struct ProviderLibraryTests {
    typealias Push = ProviderLibrary.Push

    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    /// Runs a body beside a simulator that knows one key, with an order for a library that has this key in a file.
    private func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (RunningSimulator, ProviderLibrary.Order) async throws -> Void
    ) async throws {
        try await SimulatorBench.with({
            $0.acceptsAnyKey = false
            $0.keys = [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey)]
            change(&$0)
        }) { simulator in
            var order = ProviderLibrary.Order(port: simulator.port, authority: simulator.authorityFile)
            order.keyFile = file("AuthKey_ABC1234567.p8", of: simulator)
            try Data(maker.key.pem).write(to: URL(filePath: order.keyFile))
            try await body(simulator, order)
        }
    }

    /// A path in the simulator's own directory, which is removed with it.
    private func file(_ name: String, of simulator: RunningSimulator) -> String {
        simulator.authorityFile.dropLast("ca.pem".count) + name
    }

    /// The text of an alert in either form of Apple's: a string, or an object with a body.
    private func alertText(_ payload: String) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: [String: Any]]
        let alert = object?["aps"]?["alert"]
        return alert as? String ?? (alert as? [String: Any])?["body"] as? String
    }

    private func outcomes(of library: ProviderLibrary, _ order: ProviderLibrary.Order) async throws -> [String] {
        try await library.run(order).map(\.outcome)
    }

    @Test("What a library pushes reaches the device as it was sent", arguments: ProviderLibrary.allCases)
    func delivery(_ library: ProviderLibrary) async throws {
        let clock = TestClock()
        try await with({
            $0.devices.port = 0
            $0.devices.clock = { clock.now }
        }) { simulator, order in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            var (order, alert, background) = (order, Push(token), Push(token))
            (alert.text, alert.priority, alert.collapseID, alert.lifetime) = ("Tøm", 10, "order-7", 3600)
            (background.type, background.priority) = ("background", 5)
            order.oneByOne = [alert, background]
            let answers = try await library.run(order)
            #expect(answers.map(\.outcome) == ["accepted", "accepted"])
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers.map(\.id) == [alert.id, background.id])

            let first = try await device.notification()
            #expect([first.id, first.pushType, first.collapseID] == [alert.id, "alert", "order-7"])
            #expect(first.priority == 10)
            #expect(try alertText(first.payload ?? "") == "Tøm")
            let second = try await device.notification()
            #expect([second.id, second.pushType, second.collapseID] == [background.id, "background", nil])
            #expect(second.priority == 5)
            #expect(second.payload?.filter { $0 != " " } == #"{"aps":{"content-available":1}}"#)

            // The expiration counts: what is an hour old then is gone when the device comes back.
            device.tell(.offline)
            try await device.offline()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            order.oneByOne = [alert]
            #expect(try await outcomes(of: library, order) == ["accepted"])
            clock.advance(by: 3_700_000)
            device.tell(.online)
            order.oneByOne = [background]
            #expect(try await outcomes(of: library, order) == ["accepted"])
            #expect(try await device.notification().pushType == "background")
            await device.quit()

            let ledger = simulator.ledger.records(token: token)
            #expect(ledger.map(\.id.description) == [alert, background, alert, background].map(\.id))
            #expect(Set(ledger.map(\.topic)) == ["com.example.app"])
            #expect(simulator.ledger.counts == [Ledger.Count(status: 200, label: "", count: 4)])
        }
    }

    @Test(
        "What APNs refuses becomes the library's own error, and the next push is accepted",
        arguments: [
            (.aioapns, ["BadDeviceToken", "Unregistered", "TooManyRequests", "accepted"], [1, 1, 1, 1]),
            // This one repeats what it may on a new connection, twice.
            (
                .pyapnsClient,
                [
                    "BadDeviceTokenException", "UnregisteredException", "TooManyRequestsException", "accepted",
                ], [1, 1, 3, 1]
            ),
        ] as [(ProviderLibrary, [String], [Int])])
    func refusals(_ library: ProviderLibrary, _ outcomes: [String], _ attempts: [Int]) async throws {
        try await with { simulator, order in
            var order = order
            order.oneByOne = ["bad00400", "dead0410", "bad00429", "600d0000"].map { Push(Tokens.beginning($0)) }
            let before = Int64(Date().timeIntervalSince1970 * 1000)
            let answers = try await library.run(order)
            #expect(answers.map(\.outcome) == outcomes)
            #expect(answers.map(\.status) == [400, 410, 429, 200])
            #expect(answers.map(\.id) == order.oneByOne.map(\.id))
            // The prefix says a day ago.
            let gone = try #require(answers[1].timestamp)
            #expect((0..<45_000).contains(gone + 86_400_000 - before))
            #expect(answers.map { $0.timestamp == nil } == [true, false, true, true])
            for (push, (status, count)) in zip(order.oneByOne, zip([400, 410, 429, 200], attempts)) {
                let ledger = simulator.ledger.records(token: push.token)
                #expect(ledger.map(\.status) == Array(repeating: status, count: count))
                #expect(Set(ledger.map(\.id.description)) == [push.id])
            }
        }
    }

    @Test(
        "A key that APNs does not know is refused in the library's own words",
        arguments: [
            (.aioapns, "InvalidProviderToken"), (.pyapnsClient, "InvalidProviderTokenException"),
        ] as [(ProviderLibrary, String)])
    func wrongKey(_ library: ProviderLibrary, _ outcome: String) async throws {
        try await with { simulator, order in
            var order = order
            order.oneByOne = [Push(RequestBuilder.token)]
            let stranger = try TokenMaker()
            try Data(stranger.key.pem).write(to: URL(filePath: order.keyFile))
            let answers = try await library.run(order)
            #expect(answers.map(\.outcome) == [outcome])
            #expect(answers.map(\.status) == [403])
            #expect(simulator.ledger.records().map(\.label) == ["InvalidProviderToken"])
        }
    }

    @Test("aioapns pushes with a provider certificate, and takes the topic from it")
    func certificate() async throws {
        try await with { simulator, order in
            var order = order
            let issued = try simulator.control.issue(ProviderCertificateRequest(topics: ["com.example.app"]))
            let path = file("push.pem", of: simulator)
            try Data(issued.certificatePEM + issued.keyPEM).write(to: URL(filePath: path))
            (order.certificateFile, order.topic) = (path, "com.example.unused")
            order.oneByOne = [Push(RequestBuilder.token), Push(Tokens.beginning("dead0410"))]
            let answers = try await ProviderLibrary.aioapns.run(order)
            #expect(answers.map(\.outcome) == ["accepted", "Unregistered"])
            #expect(simulator.ledger.records().map(\.topic) == ["com.example.app", "com.example.app"])
        }
    }

    @Test(
        "A library refuses a simulator it is not told to trust",
        arguments: [
            (.aioapns, "MaxAttemptsExceeded"), (.pyapnsClient, "APNSConnectionException"),
        ] as [(ProviderLibrary, String)])
    func untrusted(_ library: ProviderLibrary, _ outcome: String) async throws {
        try await with { simulator, order in
            var order = order
            order.authority = nil
            order.oneByOne = [Push(RequestBuilder.token)]
            let outcomes = try await outcomes(of: library, order)
            #expect(outcomes == [outcome])
            #expect(simulator.ledger.total == 0)
        }
    }

    /// aioapns alone: the HTTP client beneath pyapns_client loses count of its streams when several threads share it.
    @Test("A library keeps many streams busy where it may")
    func many() async throws {
        try await with({ $0.streams = .fixed(1000) }) { simulator, order in
            var order = order
            order.oneByOne = [Push(RequestBuilder.token)]
            // Each is answered after two seconds: one after the other they would take a minute.
            order.together = (0..<30).map { _ in Push(Tokens.beginning("de1a002000")) }
            let answers = try await ProviderLibrary.aioapns.run(order)
            #expect(answers.map(\.outcome) == Array(repeating: "accepted", count: 31))
            let ledger = simulator.ledger.records(token: Tokens.beginning("de1a002000"))
            #expect(ledger.map(\.id.description).sorted() == order.together.map(\.id).sorted())
            let times = ledger.map(\.time)
            #expect((times.max() ?? 0) - (times.min() ?? 0) < 20_000)
            #expect(simulator.ledger.counts == [Ledger.Count(status: 200, label: "", count: 31)])
        }
    }

    /// aioapns alone: pyapns_client closes its connection whenever it is idle, and never sees the number change.
    @Test(
        "aioapns pushes one after the other while APNs allows one stream, and side by side when that grows",
        arguments: [(.fixed(1), false), (.asAPNs, true)] as [(SimulatorConfiguration.Streams, Bool)])
    func growth(_ streams: SimulatorConfiguration.Streams, _ grows: Bool) async throws {
        try await with({ $0.streams = streams }) { simulator, order in
            var order = order
            order.oneByOne = [Push(RequestBuilder.token)]
            order.together = (0..<6).map { _ in Push(Tokens.beginning("de1a000500")) }
            let answers = try await ProviderLibrary.aioapns.run(order)
            #expect(answers.map(\.outcome) == Array(repeating: "accepted", count: 7))
            #expect(Set(simulator.ledger.records().map(\.connection)) == [1])
            let times = simulator.ledger.records(token: Tokens.beginning("de1a000500")).map(\.time)
            #expect(times.count == 6)
            // A little less than half a second: times are rounded.
            #expect(zip(times.dropFirst(), times).contains { $0 - $1 < 490 } == grows)
            #expect(simulator.ledger.counts == [Ledger.Count(status: 200, label: "", count: 7)])
        }
    }
}
