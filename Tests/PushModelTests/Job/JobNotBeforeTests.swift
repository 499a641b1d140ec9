import Testing

@testable import PushModel

@Suite("The time before which a job is not sent", .timeLimit(.minutes(1)))
struct JobNotBeforeTests {
    /// The time at which `MessageBuilder` has jobs read.
    private static let now: Int64 = 1_763_712_800_100

    /// An enveloped job with this time, and more fields.
    private static func job(_ notBefore: Int64, _ more: String = "") -> MessageBuilder {
        .enveloped(adding: #""not_before":\#(notBefore)\#(more)"#)
    }

    @Test("field and header take every form, and the header wins")
    func forms() throws {
        let values: [MessageBuilder.Value] = [
            .integer(1_763_712_850), .integer(1_763_712_850_000), .text("1763712850"), .bytes("1763712850000".bytes),
            .text("2025-11-21T08:14:10Z"), .text("2025-11-21T09:14:10.0+01:00"), .timestamp(1_763_712_850),
        ]
        for value in values {
            let raw = try MessageBuilder.raw { $0.headers.append(("x-apns-not-before", value)) }.job()
            #expect(raw.notBefore == 1_763_712_850_000)
            let both = try MessageBuilder.enveloped(adding: #""not_before":1763712899"#) {
                $0.headers.append(("x-apns-not-before", value))
            }.job()
            #expect(both.notBefore == 1_763_712_850_000)
        }
        let written = try MessageBuilder.enveloped(adding: #""not_before":"2025-11-21T08:14:10Z""#).job()
        #expect(written.notBefore == 1_763_712_850_000)
        #expect(try MessageBuilder.raw().job().notBefore == nil)
    }

    @Test("jobs of every operation may wait")
    func operations() throws {
        let job = try BroadcastChannelJobTests.enveloped(#""storage_policy":1,"not_before":1763712850"#) {
            $0.headers = [("x-apns-operation", .text("create_channel"))]
        }.job()
        #expect(job.notBefore == 1_763_712_850_000)
    }

    @Test("30 days ahead is the limit, and a copy is not held to it")
    func limit() throws {
        #expect(try Self.job(Self.now + Job.longestWait).job().notBefore == Self.now + Job.longestWait)
        let beyond = Self.job(Self.now + Job.longestWait + 1)
        let defect = try beyond.defect()
        #expect(defect.reason == .badNotBefore)
        #expect(
            defect.detail
                == "not_before is read as 2025-12-21T08:13:20Z, more than 30 days from now; publish the job later")
        var copy = beyond
        copy.headers.append(("x-apns-v", .integer(1)))
        #expect(try copy.defect().reason == .badNotBefore, "a producer's word is none")
        copy.way = .returned
        #expect(try copy.job().notBefore == Self.now + Job.longestWait + 1)
    }

    @Test("a copy whose time is years away is refused, so that none goes from tier to tier for ever")
    func holdLimit() throws {
        for (time, isHeld) in [(Self.now + Job.longestHold, true), (253_402_300_799_999, false)] {
            var copy = Self.job(time)
            copy.way = .returned
            copy.headers.append(("x-apns-v", .integer(1)))
            if isHeld {
                #expect(try copy.job().notBefore == time)
            } else {
                #expect(try copy.defect().reason == .badNotBefore)
            }
        }
    }

    @Test(
        "it lies before the deadline and the expiration, and the refusal names the one that it does not",
        arguments: [
            (#","deadline":1763712850"#, "deadline is 2025-11-21T08:14:10Z"),
            (#","deadline":1763712851,"expiration":1763712850"#, "expiration is 2025-11-21T08:14:10Z"),
            (#","expiration":1763712840"#, "expiration is 2025-11-21T08:14:00Z"),
        ])
    func order(_ more: String, _ words: String) throws {
        let defect = try Self.job(1_763_712_850, more).defect()
        #expect(defect.reason == .badNotBefore)
        #expect(
            defect.detail
                == "not_before is read as 2025-11-21T08:14:10Z, and its \(words): leave time between the two")
        #expect(try Self.job(1_763_712_850, #","deadline":1763712850001,"expiration":0"#).job().expiration == 0)
    }

    @Test("a refusal names the header where the time stands there")
    func header() throws {
        let defect = try MessageBuilder.raw {
            $0.headers += [
                ("x-apns-not-before", .integer(1_763_712_850)), ("x-apns-deadline", .integer(1_763_712_800)),
            ]
        }.defect()
        let words = "the header x-apns-not-before is read as 2025-11-21T08:14:10Z, and its deadline is"
        #expect(defect.detail.hasPrefix(words))
    }

    @Test("a job is early until its time, to the millisecond")
    func early() throws {
        let job = try Self.job(1_763_712_850_000).job()
        #expect(job.isEarly(at: 1_763_712_849_999) && !job.isEarly(at: 1_763_712_850_000))
        #expect(try !MessageBuilder.raw().job().isEarly(at: 0))
    }

    @Test(
        "how long a job waited counts from its time, unless it was queued after that",
        arguments: [
            (1_763_712_850_000, 1_763_712_850_004, 4), (1_763_712_850_000, 1_763_712_849_000, 0),
            (1_763_712_700_000, 1_763_712_800_007, 7),
        ] as [(Int64, Int64, Int64)])
    func waiting(_ notBefore: Int64, _ now: Int64, _ expected: Int64) throws {
        let job = try MessageBuilder.raw {
            $0.headers += [
                ("x-apns-enqueued-at", .integer(1_763_712_800_000)), ("x-apns-not-before", .integer(notBefore)),
            ]
        }.job()
        #expect(job.queueMilliseconds(at: now) == expected)
        let unknown = try MessageBuilder.raw { $0.headers.append(("x-apns-not-before", .integer(notBefore))) }.job()
        #expect(unknown.queueMilliseconds(at: now) == nil)
    }
}
