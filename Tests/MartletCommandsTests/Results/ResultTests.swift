import Testing

@testable import MartletCommands
@testable import Rig

@Suite("Results", .timeLimit(.minutes(1)))
struct ResultTests {
    private let body = """
        { "job_id": "j", "index": 2, "outcome": "dead_token", "action": "drop_token", "status": 410,
          "reason": "Unregistered", "detail": null, "device_token": "a1b2c3d4e5f6", "token_invalid_since": 1763712764120,
          "reference": "r", "apns_id": "u", "apns_unique_id": null, "topic": "com.a", "environment": "production",
          "route": "example", "attempt": 2, "redelivered": true, "enqueued_at": 1763712800100,
          "finished_at": 1763712800174, "queue_ms": 31, "apns_ms": 41, "worker": "w", "new": {"field": 1} }
        """

    /// A result of an outcome.
    private func record(_ outcome: String, reason: String? = nil, topic: String = "com.a") -> ResultRecord {
        ResultRecord(jobID: "j", index: 0, outcome: outcome, reason: reason, topic: topic, environment: "production")
    }

    @Test("A result is read with unknown fields, and shown without its whole token")
    func record() throws {
        let record = try #require(ResultRecord.parse(Array(body.utf8)))
        #expect(record.jobID == "j")
        #expect(record.apnsMilliseconds == 41)
        #expect(
            record.line() == """
                2025-11-21T08:13:20.174Z  dead_token  410 Unregistered  j#2  com.a (production)  token a1b2c3d4…  \
                attempt 2  redelivered  41 ms  r
                """)
    }

    @Test("On a terminal a result has no date, and is no wider than there is room")
    func narrow() throws {
        let record = try #require(ResultRecord.parse(Array(body.utf8)))
        #expect(record.line(width: 40) == "08:13:20.174  dead_token  410 Unregiste…")
        #expect(record.line(width: 200).hasPrefix("08:13:20.174  ") && record.line(width: 200).hasSuffix("  r"))
    }

    @Test("The first word that says how it went is coloured, and no other")
    func colours() {
        let line = Ink.paintFirst("08:13  accepted  200  failed", words: Ink.verdicts)
        #expect(line == "08:13  \u{1b}[32maccepted\u{1b}[0m  200  failed")
        #expect(Ink.paintFirst("nothing here", words: Ink.verdicts) == "nothing here")
    }

    @Test("A message with several results is read as these, each with its own id and all of its fields")
    func several() throws {
        let text =
            #"{"outcome":"dead_token","topic":"com.a","reason":null,"results":[{"message_id":"m1","job_id":"j","index":0},"#
            + #"{"message_id":"m2","job_id":"j","index":1,"reason":"Unregistered","correlation_id":"c"}]}"#
        let results = ReceivedResult.read(Array(text.utf8), messageID: "batch")
        #expect(results.map(\.messageID) == ["m1", "m2"])
        #expect(results.map(\.record.index) == [0, 1])
        #expect(results.map(\.record.reason) == [nil, "Unregistered"])
        #expect(results.allSatisfy { $0.record.outcome == "dead_token" && $0.record.topic == "com.a" })
        #expect(results.allSatisfy { ResultRecord.parse($0.body) == $0.record })
        let single = ReceivedResult.read(Array(body.utf8), messageID: "m")
        #expect(single.map(\.messageID) == ["m"] && single[0].body == Array(body.utf8))
        #expect(String(decoding: single[0].line, as: UTF8.self) == #"{"message_id":"m",\#(body.dropFirst())"#)
        #expect(results.allSatisfy { $0.line == $0.body }, "a result of several has the field already")
        let broken = #"{"outcome":"accepted","results":[{"message_id":"m1","index":0},{"message_id":"m2"}]}"#
        #expect(ReceivedResult.read(Array(broken.utf8), messageID: "m").isEmpty, "one entry is not a result")
    }

    @Test("What is not a result is told apart", arguments: ["", "[]", #"{"index":0}"#, #"{"outcome":"accepted"}"#])
    func noRecord(text: String) {
        #expect(ResultRecord.parse(Array(text.utf8)) == nil)
    }

    @Test(
        "A tap is bound by no wider keys than its filter needs",
        arguments: [
            (ResultFilter(), ["#"]), (ResultFilter(reasons: ["BadTopic"]), ["#"]),
            (ResultFilter(outcomes: ["expired"]), ["expired.*.#"]), (ResultFilter(topics: ["com.a"]), ["*.*.com.a"]),
            (ResultFilter(environments: ["production"]), ["*.production.#"]),
            (
                ResultFilter(outcomes: ["expired", "invalid"], topics: ["com.a"], environments: ["development"]),
                ["expired.development.com.a", "invalid.development.com.a"]
            ),
        ])
    func bindings(filter: ResultFilter, keys: [String]) {
        #expect(filter.bindingKeys == keys)
    }

    @Test("A filter admits what it names")
    func filter() {
        let filter = ResultFilter(outcomes: ["rejected"], reasons: ["BadTopic", "BadPath"])
        #expect(filter.passes(record("rejected", reason: "BadPath")))
        #expect(!filter.passes(record("rejected", reason: "Other")))
        #expect(!filter.passes(record("rejected")))
        #expect(!filter.passes(record("accepted", reason: "BadPath")))
        #expect(ResultFilter().passes(record("accepted")))
    }

    @Test("A summary counts by outcome and reason, most frequent first, and knows percentiles")
    func summary() {
        var summary = ResultSummary()
        for index in 0..<100 {
            var record = record("accepted")
            (record.apnsMilliseconds, record.finishedAt) = (Int64(index), 1000 + Int64(index) * 10)
            summary.add(record)
        }
        summary.add(record("rejected", reason: "BadTopic", topic: "com.b"))
        #expect(summary.count("accepted") == 100)
        #expect(
            summary.lines == [
                "outcome      count    share  reason", "accepted        100   99.0 %  ",
                "rejected          1    0.9 %  BadTopic", "total           101",
                "answer of APNs: p50 49 ms, p90 89 ms, p99 98 ms, p99.9 99 ms, most 99 ms",
                "finished within 990 ms: 102/s",
            ])
        #expect(
            summary.json.description == """
                {"total":101,"redelivered":0,"outcomes":[{"outcome":"accepted","status":null,"reason":null,"count":100},\
                {"outcome":"rejected","status":null,"reason":"BadTopic","count":1}],"topics":{"com.a":100,"com.b":1},\
                "apns_ms":{"p50":49,"p90":89,"p99":98,"p99.9":99,"max":99},"queue_ms":null,\
                "first_finished_at":1000,"last_finished_at":1990}
                """)
        #expect(ResultSummary().lines == ["no results"])
    }

    @Test("Absurd numbers in results are shown and counted")
    func absurdNumbers() throws {
        var summary = ResultSummary()
        for number in [Int64.min, -1, 0, .max] {
            let body = """
                {"index":\(number),"outcome":"accepted","status":\(number),"attempt":\(number),"apns_ms":\(number),\
                "queue_ms":\(number),"enqueued_at":\(number),"finished_at":\(number),"token_invalid_since":\(number)}
                """
            let record = try #require(ResultRecord.parse(Array(body.utf8)))
            #expect(record.line().contains("accepted"))
            summary.add(record)
        }
        #expect(summary.total == 4 && !summary.lines.isEmpty && !summary.json.bytes.isEmpty)
    }

    @Test("Replies are awaited once for every notification")
    func ledger() {
        var ledger = ReplyLedger()
        ledger.expect(job: "j", notifications: 2)
        ledger.expect(job: "k", notifications: 1)
        #expect(ledger.outstanding == 3)
        let receptions = [ledger.receive(record("accepted")), ledger.receive(record("accepted"))]
        #expect(receptions == [true, false])
        ledger.forget(job: "k")
        #expect(ledger.outstanding == 1)
        #expect(ledger.jobsWaitedFor == ["j"])
        #expect(ledger.received == 1)
    }

    @Test(
        "The exit status of a push tells what to look at",
        arguments: [
            (PushRun.Counts(published: 2, confirmed: 2), 0, 0, .ok),
            (PushRun.Counts(published: 2, confirmed: 2), 1, 0, .gaveUp),
            (PushRun.Counts(published: 2, confirmed: 2), 1, 1, .someFailed),
            (PushRun.Counts(published: 2, confirmed: 1, returned: 1), 0, 0, .someFailed),
            (PushRun.Counts(published: 2, confirmed: 2, unreadable: 1), 0, 0, .someFailed),
            (PushRun.Counts(unreadable: 3), 0, 0, .badInput),
            (PushRun.Counts(published: 1, returned: 1), 0, 0, .refused),
            (PushRun.Counts(published: 1, refused: 1), 0, 0, .gaveUp), (PushRun.Counts(), 0, 0, .ok),
        ] as [(PushRun.Counts, Int, Int, CommandStatus)])
    func status(counts: PushRun.Counts, missing: Int, failed: Int, expected: CommandStatus) {
        #expect(PushRun.status(counts, missingResults: missing, failedResults: failed) == expected)
        if expected == .ok {
            #expect(PushRun.status(counts, missingResults: 0, failedResults: 0, interrupted: true) == .gaveUp)
        }
    }

    @Test(
        "Characters that command a terminal or fake a line are shown, not sent",
        arguments: [
            ("Grüße, 你好 👍🏽 👨‍👩‍👧", "Grüße, 你好 👍🏽 👨‍👩‍👧"), ("\u{1b}[2J\u{0}\u{7}\r\n\t", #"\x1b[2J\x00\x07\x0d\x0a\x09"#),
            ("\u{7f}\u{9b}31m\u{85}", #"\x7f\x9b31m\x85"#), ("a\u{202e}b\u{2028}", #"a\u{202e}b\u{2028}"#),
            ("1\u{a0}000 e\u{301}\u{1b}", "1\u{a0}000 e\u{301}\\x1b"),
        ])
    func printable(text: String, shown: String) {
        #expect(text.printable == shown)
    }

    @Test("JSON is written with what must be escaped, and nothing else")
    func json() {
        let value = JSON.object([
            ("a\"b", .text("\\ \n\r\t \u{1} é /")), ("n", .null),
            ("l", .array([.boolean(true), .integer(-1), .number(0.5)])),
        ])
        #expect(value.description == #"{"a\"b":"\\ \n\r\t \u0001 é /","n":null,"l":[true,-1,0.5]}"#)
    }

    @Test("A report's exit status is that of its first failure, and remedies stand under their steps")
    func report() {
        var report = CheckReport()
        report.good("one", "fine")
        report.fail("second", "no", remedy: "mend it", .unreachable)
        report.fail("third", "no", remedy: nil, .refused)
        report.skip("last", because: "not tried")
        #expect(report.status == .unreachable)
        #expect(
            report.lines == [
                "ok       one     fine", "failed   second  no", "         → mend it", "failed   third   no",
                "skipped  last    not tried",
            ])
        #expect(report.json[1].description == #"{"step":"second","verdict":"failed","detail":"no","remedy":"mend it"}"#)
    }
}
