import Foundation
import TestSupport
import Testing
import Text

@testable import PushModel

@Suite("Several results in one message", .timeLimit(.minutes(1)))
struct ResultBatchReaderTests {
    private static let origin = ResultOrigin(route: "example", worker: "host-7f9c")

    private static func parsed(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// A batch of reports that have their outcome in common.
    private static func batch(_ reports: [(ResultReport, Job)]) -> [UInt8] {
        var body: [UInt8] = []
        reports[0].0.appendBatchHead(for: reports[0].1, from: origin, to: &body)
        for (number, (report, job)) in reports.enumerated() {
            let id = ResultReport.messageID(of: report.index, for: job)
            report.appendEntry(id, isFirst: number == 0, for: job, from: origin, to: &body)
        }
        ResultReport.appendBatchEnd(to: &body)
        return body
    }

    /// Reports that have as much and as little as can be, with texts that need escapes.
    private static func reports() throws -> [(ResultReport, Job)] {
        let nasty = "\"\\\n\u{1}ä😀"
        let rich = try MessageBuilder.raw {
            $0.correlationID = nasty
            $0.redelivered = true
            $0.headers += [
                ("x-apns-reference", .text(nasty)), ("x-apns-enqueued-at", .integer(1_763_712_800_100)),
                ("traceparent", .text("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")),
            ]
        }.job()
        let many = try MessageBuilder.enveloped(#"{"id":"many","device_tokens":["aa11","x"],"payload":{}}"#).job()
        let full = FinalReport(
            .deadToken, .dropToken, status: 410, reason: .unregistered, detail: nasty,
            tokenInvalidSince: 1_763_712_764_120)
        return [
            (
                ResultReport(
                    index: 0, final: full, apnsUniqueID: nasty.bytes, finishedAt: 1_763_712_800_174,
                    queueMilliseconds: 31, apnsMilliseconds: 41, isSuppressedDuplicate: true), rich
            ),
            (ResultReport(index: 0, final: FinalReport(.deadToken, .hold), finishedAt: 2), many),
            (ResultReport(index: 1, final: FinalReport(.deadToken, .hold), finishedAt: 3), many),
        ]
    }

    @Test("an entry and the top together are the result that would be a message of its own, and its message_id")
    func merged() throws {
        let reports = try Self.reports()
        let entries = try #require(ResultBatchReader.entries(in: Self.batch(reports)))
        #expect(entries.count == 3)
        for (entry, (report, job)) in zip(entries, reports) {
            var single: [UInt8] = []
            report.appendBody(for: job, from: Self.origin, to: &single)
            var expected = try Self.parsed(single)
            expected["message_id"] = ResultReport.messageID(of: report.index, for: job).description
            if report.index == 0, job.correlationID != nil {
                expected["correlation_id"] = job.text(job.correlationID)
                expected["traceparent"] = job.text(job.traceparent)
            }
            let found = try Self.parsed(entry.body)
            #expect(NSDictionary(dictionary: found) == NSDictionary(dictionary: expected))
            #expect(entry.messageID == expected["message_id"] as? String)
        }
    }

    @Test("a batch obeys its schema, also one without topic, environment and route")
    func schema() throws {
        let check = ContractCheck()
        check.note(.resultBatch, json: Self.batch(try Self.reports()), about: "rich")
        let defect = try MessageBuilder.enveloped("{") { $0.routingKey = "x" }.defect()
        var body: [UInt8] = []
        let report = ResultReport(index: 0, final: defect.report, finishedAt: 5)
        let origin = ResultOrigin(route: nil, worker: "w")
        report.appendBatchHead(for: defect.job, from: origin, to: &body)
        let id = ResultReport.messageID(of: 0, for: defect.job)
        report.appendEntry(id, isFirst: true, for: defect.job, from: origin, to: &body)
        ResultReport.appendBatchEnd(to: &body)
        check.note(.resultBatch, json: body, about: "poor")
        #expect(try check.problems() == [])
        let other = #"{"outcome":"accepted","results":[{"index":0,"new":1}]}"#
        check.note(.resultBatch, json: other.bytes, about: "other")
        let problems = try check.problems()
        #expect(problems.contains("result-batch, other: new: the schema lacks it"))
        #expect(problems.contains { $0.contains("'message_id' is a required property") })
    }

    @Test(
        "what is not several results is told apart",
        arguments: [
            "", "{", "[]", "{}", #"{"results":{}}"#, #"{"results":[1]}"#, #"{"results":[{"index":0}]}"#,
            #"{"results":[{"message_id":1}]}"#, #"{"results":[{"message_id":"a"}]} x"#,
        ])
    func others(text: String) {
        #expect(ResultBatchReader.entries(in: text.bytes) == nil)
    }

    @Test("more results or bytes than a worker writes are not read")
    func limits() {
        func body(_ count: Int, filler: Int = 0) -> [UInt8] {
            let entries = Array(repeating: #"{"message_id":"a"}"#, count: count).joined(separator: ",")
            return #"{"results":[\#(entries)],"b":"\#(String(repeating: "x", count: filler))"}"#.bytes
        }
        #expect(ResultBatchReader.entries(in: body(Job.maximumTokens))?.count == Job.maximumTokens)
        #expect(ResultBatchReader.entries(in: body(Job.maximumTokens + 1)) == nil)
        let rest = ResultReport.longestBatch - body(1).count
        #expect(ResultBatchReader.entries(in: body(1, filler: rest))?.count == 1)
        #expect(ResultBatchReader.entries(in: body(1, filler: rest + 1)) == nil)
    }

    @Test("a field that both have is the entry's, whatever its place")
    func precedence() {
        let body = #"{"results":[{"message_id":"a","b":[1,{"c":2}],"d":"x\"y"}],"b":null,"e":true}"#
        let entries = ResultBatchReader.entries(in: body.bytes)
        let expected = #"{"message_id":"a","b":[1,{"c":2}],"d":"x\"y","e":true}"#
        #expect(entries == [ResultBatchReader.Entry(messageID: "a", body: expected.bytes)])
    }
}
