import Testing
import Text

@testable import APNSSimulator

@Suite("The ledger", .timeLimit(.minutes(1)))
struct LedgerTests {
    static let id = UUIDBytes(high: 0x0193_C0DE_7A5B_7C3D, low: 0x9E10_2F6B_1A7C_8D90)

    private func filled(capacity: Int = 100, count: Int = 3) -> Ledger {
        let ledger = Ledger(capacity: capacity)
        for index in 0..<count {
            ledger.record(
                token: Array("ab0\(index % 10)".utf8), id: Self.id, topic: "com.example.app", payload: Array("{}".utf8),
                time: 1000 + Int64(index), status: index == 1 ? 410 : 200, label: index == 1 ? "Unregistered" : "",
                connection: 1, stream: Int32(2 * index + 1))
        }
        return ledger
    }

    private func render(_ ledger: Ledger, step: Int = 2, token: String? = nil, isCompact: Bool) -> String {
        var bytes: [UInt8] = []
        var next: Int? = 0
        while let start = next {
            next = ledger.render(
                from: start, limit: step, token: token.map { Array($0.utf8) }, isCompact: isCompact, into: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Pushes are listed in order, for all devices or one")
    func records() {
        let ledger = filled()
        #expect(ledger.records().map(\.token) == ["ab00", "ab01", "ab02"])
        #expect(ledger.records().map(\.status) == [200, 410, 200])
        let record = ledger.records(token: "ab01").first
        #expect(record?.label == "Unregistered")
        #expect(record?.payloadBytes == 2)
        #expect(record?.stream == 3)
        #expect(
            ledger.counts == [
                .init(status: 200, label: "", count: 2), .init(status: 410, label: "Unregistered", count: 1),
            ])
    }

    @Test("JSON Lines tell everything about a push")
    func jsonLines() {
        let lines = render(filled(), isCompact: false).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(
            lines[1]
                == #"""
                {"number":2,"token":"ab01","apns_id":"0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90","topic":"com.example.app",\#
                "bytes":2,"fnv1a":"08f44b07b5901a25","time":1001,"status":410,"reason":"Unregistered","connection":1,\#
                "stream":3}
                """#
        )
        for line in lines { #expect(JSONReader.isObject(Array(line.utf8))) }
        #expect(render(filled(), token: "ab02", isCompact: false).contains("\"number\":3"))
    }

    @Test("Compact lines tell identifier, token and status")
    func compact() {
        #expect(
            render(filled(), isCompact: true)
                == """
                0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90 ab00 200
                0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90 ab01 410
                0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90 ab02 200

                """)
    }

    @Test("Beyond its capacity pushes are counted, not listed")
    func capacity() {
        let ledger = filled(capacity: 2, count: 10)
        #expect(ledger.records().count == 2)
        #expect(ledger.unlisted == 8)
        #expect(ledger.total == 10)
        ledger.reset()
        #expect(ledger.total == 0)
        #expect(render(ledger, isCompact: true) == "")
    }

    @Test("Topics beyond the limit share a name")
    func topicLimit() {
        let ledger = Ledger()
        for index in 0..<(Ledger.nameLimit + 10) {
            ledger.record(
                token: [], id: Self.id, topic: "t\(index)", payload: [], time: 0, status: 200, label: "", connection: 1,
                stream: 1)
        }
        let topics = ledger.records().map(\.topic)
        #expect(Set(topics).count == Ledger.nameLimit)
        #expect(topics.last == "(more)")
        #expect(topics.first == "t0")
    }
}
