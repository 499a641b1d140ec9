import TestSupport
import Testing

@testable import PushModel

@Suite("The page about jobs", .timeLimit(.minutes(1)))
struct JobPageTests {
    private let page: Page

    init() throws { page = try Page(documentation: "Producers") }

    @Test("Producers says what the parts of a routing key may be")
    func routingKey() throws {
        let rows = page.rows("part", in: "Exchange and routing key")
        #expect(rows.map { $0[0] } == ["environment", "class", "topic"])
        #expect(Page.quoted(rows[0][1]) == APNSEnvironment.allCases.map(\.rawValue))
        #expect(Page.quoted(rows[1][1]) == JobClass.allCases.map(\.rawValue))
        let characters = try #require(Page.quoted(rows[2][1]).first)
        #expect(rows[2][1] == "1 to \(Topic.maximumLength) of `\(characters)`")
        for byte in UInt8.min...UInt8.max {
            let isNamed = characters.split(separator: " ").contains { span in
                let ends = Array(span.utf8)
                return ends.count == 3 ? (ends[0]...ends[2]).contains(byte) : ends == [byte]
            }
            let isLegal = Topic.isLegal([byte].span)
            #expect(isLegal == isNamed, "\(byte)")
        }
    }

    @Test("Producers lists the suffixes that a route claims, with the push types that they mean")
    func suffixes() {
        let all = TopicSuffix.all.filter { !$0.isEmpty }
        let quoted = Page.quoted(page.text(of: "Exchange and routing key")).filter { all.contains($0) }
        #expect(quoted == all)
        let rows = page.rows("suffix", in: "Defaults").map { $0.flatMap { Page.quoted($0) } }
        let types = all.map { suffix in
            let topic = Array("com.example.app\(suffix)".utf8)
            return [suffix, Topic.pushType(of: topic.span).map { "\($0.text)" } ?? ""]
        }
        #expect(rows == types)
    }

    @Test("Producers lists the operations on broadcast channels, and no other")
    func operations() {
        let listed = page.names("`operation`", in: "Broadcast channels")
        #expect(listed == BroadcastChannelOperation.allCases.map(\.rawValue))
    }

    @Test("Each way to write a time is read, and the digits of numbers are as many as Producers says")
    func times() throws {
        let rows = page.rows("written as", in: "Times")
        try #require(rows.count == 3)
        for (row, isInSeconds) in zip(rows, [true, true, false]) {
            let examples = Page.quoted(row[1]).map { $0.replacing("\"", with: "") }
            #expect(!examples.isEmpty)
            for example in examples {
                let time = WrittenTime(Array(example.utf8).span)
                // One of the dates has a fraction of a second.
                #expect(time?.isInSeconds == (isInSeconds && !example.contains(".")), "\(example)")
            }
        }
        for (row, range) in zip(rows.dropFirst(), [WrittenTime.seconds, WrittenTime.plausible]) {
            let digits = [range.lowerBound, range.upperBound].map { "\($0)".count }
            #expect(row[0].hasSuffix(", \(digits[0]) to \(digits[1]) digits"))
        }
    }
}
