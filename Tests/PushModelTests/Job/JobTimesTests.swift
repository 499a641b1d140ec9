import Testing

@testable import PushModel

@Suite("The times of a job", .timeLimit(.minutes(1)))
struct JobTimesTests {
    /// One moment in each of the forms in which it may be written.
    private static let forms: [MessageBuilder.Value] = [
        .integer(1_795_262_400), .integer(1_795_262_400_000), .text("1795262400"), .bytes("1795262400000".bytes),
        .text("2026-11-21T12:00:00Z"), .text("2026-11-21T13:00:00.0+01:00"), .timestamp(1_795_262_400),
    ]

    @Test("every header takes every form", arguments: forms.indices)
    func headers(_ form: Int) throws {
        let value = Self.forms[form]
        let job = try MessageBuilder.raw {
            $0.way = .returned
            $0.headers += [
                ("x-apns-deadline", value), ("apns-expiration", value), ("x-apns-enqueued-at", value),
                ("x-apns-v", .integer(1)), ("x-apns-first-attempt-at", value),
            ]
        }.job()
        #expect(job.deadline == 1_795_262_400_000 && job.expiration == 1_795_262_400)
        #expect(job.enqueuedAt == 1_795_262_400_000 && job.firstAttemptAt == 1_795_262_400_000)
    }

    @Test(
        "every field takes every form",
        arguments: [
            "1795262400", "1795262400000", #""1795262400""#, #""1795262400000""#, #""2026-11-21T12:00:00Z""#,
            #""2026-11-21T13:00:00.0\u002b01:00""#,
        ])
    func fields(_ value: String) throws {
        let job = try MessageBuilder.enveloped(adding: #""deadline":\#(value),"expiration":\#(value)"#).job()
        #expect(job.deadline == 1_795_262_400_000 && job.expiration == 1_795_262_400)
    }

    @Test("an expiration of 0 means to try once, however it is written")
    func once() throws {
        for value: MessageBuilder.Value in [.integer(0), .text("0"), .bytes("00".bytes)] {
            #expect(try MessageBuilder.raw { $0.headers.append(("apns-expiration", value)) }.job().expiration == 0)
        }
        for value in ["0", #""0""#] {
            #expect(try MessageBuilder.enveloped(adding: #""expiration":\#(value)"#).job().expiration == 0)
        }
    }

    @Test(
        "a refused time says where it stands and how it was read",
        arguments: [
            (
                "x-apns-deadline", .integer(3_600), .badDeadline,
                "the header x-apns-deadline is 3600, which as seconds since 1970 is 1970-01-01T01:00:00Z"
            ),
            (
                "apns-expiration", .text("1795262400000000"), .badExpirationDate,
                "the header apns-expiration is 1795262400000000, which as milliseconds since 1970 is after the year 9999"
            ),
            (
                "x-apns-enqueued-at", .other, .badHeaders,
                "the header x-apns-enqueued-at is a decimal number; write 2030-01-01T12:00:00Z"
            ),
        ] as [(String, MessageBuilder.Value, Reason, String)])
    func refusals(_ name: String, _ value: MessageBuilder.Value, _ reason: Reason, _ words: String) throws {
        let defect = try MessageBuilder.raw { $0.headers.append((name, value)) }.defect()
        #expect(defect.reason == reason)
        #expect(defect.detail.hasPrefix(words), "\(defect.detail)")
    }

    @Test("a field's refusal names the field")
    func refusedField() throws {
        let defect = try MessageBuilder.enveloped(adding: #""expiration":600"#).defect()
        #expect(defect.reason == .badExpirationDate)
        #expect(defect.detail.hasPrefix("expiration is 600, which as seconds since 1970 is 1970-01-01T00:10:00Z"))
    }

    @Test(
        "how long a job waited is known to the millisecond, or from two seconds on",
        arguments: [
            (.integer(1_763_712_800_000), 4, 4), (.integer(1_763_712_800_000), 1_999, 1_999),
            (.integer(1_763_712_800), 4, nil), (.integer(1_763_712_800), 1_999, nil),
            (.integer(1_763_712_800), 2_000, 2_000), (.text("2025-11-21T08:13:20Z"), 690, nil),
            (.text("2025-11-21T08:13:20.000Z"), 690, 690), (.integer(1_763_712_800_000), -10, 0),
            (.integer(1_763_712_800), -10, nil), (.integer(1_763_712_800), 99_999_999_999, 31_536_000_000),
        ] as [(MessageBuilder.Value, Int64, Int64?)])
    func waiting(_ enqueuedAt: MessageBuilder.Value, _ later: Int64, _ expected: Int64?) throws {
        let job = try MessageBuilder.raw { $0.headers.append(("x-apns-enqueued-at", enqueuedAt)) }.job()
        #expect(job.enqueuedAt == 1_763_712_800_000)
        #expect(job.queueMilliseconds(at: 1_763_712_800_000 + later) == expected)
    }

    @Test("the property timestamp has whole seconds, and without any time nothing is known")
    func timestamp() throws {
        let job = try MessageBuilder.raw { $0.timestamp = 1_763_712_800 }.job()
        #expect(job.queueMilliseconds(at: 1_763_712_801_999) == nil)
        #expect(job.queueMilliseconds(at: 1_763_712_802_000) == 2_000)
        #expect(try MessageBuilder.raw().job().queueMilliseconds(at: 1_763_712_802_000) == nil)
    }
}
