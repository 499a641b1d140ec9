import Foundation
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

    @Test("Producers lists the two forms with the content types that tell them apart")
    func forms() throws {
        let rows = page.rows("form", in: "Two forms")
        try #require(rows.count == 2 && rows[0][0] != rows[1][0])
        for row in rows {
            let type = Array((Page.quoted(row[1]).first ?? "").utf8)
            let form = JobForm(type.span).map { "\($0)" }
            #expect(form == row[0])
        }
    }

    @Test("Producers says how long a job id may be, and which content encodings are accepted")
    func properties() throws {
        let rows = page.rows("property", in: "Properties of both forms")
        let id = try #require(rows.first { $0[0] == "`message_id`" })
        #expect(id[1] == "text, 1 to \(Job.maximumIDLength) bytes of UTF-8")
        let encoding = try #require(rows.first { $0[0] == "`content_encoding`" })[3]
        #expect(encoding.hasSuffix(" and the empty text are accepted"))
        let code = try SourceCode.text("PushModel/Job/JobForm.swift")
        #expect(Page.quoted(encoding) == code.matches(of: /isMediaType\("([^"]+)"\)/).map { String($0.output.1) })
        for accepted in Page.quoted(encoding) + [""] {
            _ = try MessageBuilder.raw { $0.contentEncoding = accepted }.job()
        }
    }

    /// What a header fills in what the reader of jobs keeps.
    private static func places(_ header: String) -> Set<String> {
        let bytes = Array(header.utf8)
        var headers = JobHeaders()
        headers.take(name: 0..<bytes.count, value: .integer(1), in: bytes)
        return Set(Mirror(reflecting: headers).children.filter { $0.value is HeaderValue }.compactMap(\.label))
    }

    @Test("Producers names every header that means something on a job, and no other")
    func headers() throws {
        let text = page.text(of: "Headers of both forms")
        let sentence = try #require(text.components(separatedBy: "The worker writes the headers ").last)
        let own = try #require(sentence.components(separatedBy: " itself. Leave them out.").first)
        let named =
            page.names("header", in: "Headers of both forms") + page.names("header", in: "Raw jobs") + Page.quoted(own)
        for name in named { #expect(Self.places(name).count == 1, "\(name)") }
        #expect(Set(named).count == named.count)
        let all = Mirror(reflecting: JobHeaders()).children.filter { $0.value is HeaderValue? }.compactMap(\.label)
        // Read only of a dead letter that somebody moved.
        #expect(all.count > 20 && Set(named.flatMap(Self.places)) == Set(all).subtracting(["originalRoutingKey"]))
    }

    @Test("Producers lists the fields of an enveloped job, and names no other beside a header")
    func fields() {
        let fields = JobField.allCases.map(\.stringValue)
        #expect(page.names("field", in: "Enveloped jobs").sorted() == fields.sorted())
        let beside = page.rows("header", in: "Headers of both forms").flatMap { Page.quoted($0[2]) }
        #expect(!beside.isEmpty && beside.filter { !fields.contains($0) } == [])
    }

    @Test("Producers says which header and which field set each of a job's times, and how exact the age is")
    func limits() throws {
        let rows = page.rows("", in: "Deadline, expiration and age")
        let names = rows.map { Page.quoted($0[0]) }
        #expect(
            names == [
                [JobField.deadline.stringValue, "\(HeaderName.deadline)"],
                [JobField.expiration.stringValue, "\(HeaderName.expiration)"],
                ["\(JobField.expiration.stringValue): 0"], ["\(HeaderName.enqueuedAt)", "timestamp"],
            ])
        for name in names.flatMap(\.self) where name.contains("apns-") { #expect(Self.places(name).count == 1) }
        let job = try MessageBuilder.raw { $0.timestamp = 1_763_712_800 }.job()
        let ages = (0...10_000).filter { job.queueMilliseconds(at: 1_763_712_800_000 + Int64($0)) != nil }
        let least = Page.number(try #require(ages.first))
        #expect(rows.last?[2].hasSuffix("`queue_ms` is null below \(least)") == true)
    }

    @Test("Producers says what a job may choose for a request without an answer, and what follows")
    func onUnknown() throws {
        let rows = page.rows("`on_unknown`", in: "When APNs does not answer")
        #expect(rows.flatMap { Page.quoted($0[0]) } == OnUnknown.allCases.map(\.rawValue))
        let usual = try MessageBuilder.raw().job().onUnknown
        for row in rows {
            let choice = try #require(Page.quoted(row[0]).first.flatMap(OnUnknown.init(rawValue:)))
            #expect(row[0].hasSuffix("(default)") == (choice == usual))
            let settlement = RetryPolicy().settle(
                .unanswered(.deadline), job: AttemptFacts(onUnknown: choice), now: 1_763_712_800_000)
            switch settlement {
            case .report(let final): #expect(row[1].hasPrefix("the result is `\(final.outcome.rawValue)`,"))
            default: #expect(row[1].hasPrefix("the push is sent again;"), "\(settlement)")
            }
        }
    }
}
