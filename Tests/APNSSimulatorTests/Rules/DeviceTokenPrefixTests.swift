import Testing

@testable import APNSSimulator

@Suite("Verdicts by device token", .timeLimit(.minutes(1)))
struct DeviceTokenPrefixTests {
    static let now: Int64 = 1_763_712_800_000

    private func sequence(_ prefix: String) -> VerdictSequence? {
        DeviceTokenPrefix.sequence(of: Array(Tokens.beginning(prefix).utf8), now: Self.now)
    }

    @Test("Every documented reason has a prefix, and the help names it")
    func everyReason() {
        var numbers: [Int: Int] = [:]
        for refusal in Refusal.known {
            let number = numbers[refusal.status, default: 0]
            numbers[refusal.status] = number + 1
            let prefix = "bad" + (number < 10 ? "0" : "") + "\(number)\(refusal.status)"
            guard case .refuse(let told) = sequence(prefix)?.first.action else {
                Issue.record("\(prefix) has no verdict")
                continue
            }
            #expect(told.reason == refusal.reason)
            #expect(told.status == refusal.status)
            #expect((told.timestamp != nil) == (refusal.status == 410))
            #expect(DeviceTokenPrefix.help.contains("\(prefix)        \(refusal.status) \(refusal.reason)\n"))
        }
        #expect(Refusal.documented.count == 32)
        #expect(Refusal.known.count == 44)
        #expect(Set(Refusal.known.map(\.reason)).count == 44)
    }

    @Test(
        "Prefixes choose what the table says",
        arguments: [
            ("600d0000", VerdictSequence(.accept)),
            ("dead0410", VerdictSequence(Verdict(.refuse(Refusal(410, "Unregistered", timestamp: now - 86_400_000))))),
            ("DEAD1410", VerdictSequence(Verdict(.refuse(Refusal(410, "ExpiredToken", timestamp: now - 86_400_000))))),
            ("bad00400", VerdictSequence(Verdict(.refuse(.badDeviceToken)))),
            ("bad99418", VerdictSequence(Verdict(.refuse(Refusal(418, "SimulatedUnknownReason"))))),
            ("bad30400", VerdictSequence(Verdict(.refuse(Refusal(400, "SimulatedNoSuchReason"))))),
            ("bad99500", VerdictSequence(Verdict(.refuse(Refusal(500, "SimulatedUnknownReason"))))),
            ("fa112429", VerdictSequence(Verdict(.refuse(.tooManyRequests)), count: 2)),
            ("fa113500", VerdictSequence(Verdict(.refuse(.internalServerError)), count: 3)),
            ("fa111000", VerdictSequence(Verdict(.silent), count: 1)),
            ("fa119007", VerdictSequence(Verdict(.reset(7)), count: 9)),
            ("de1a000250", VerdictSequence(Verdict(.accept, delay: 250))),
            ("0ff00000", VerdictSequence(Verdict(.silent))), ("c0de0008", VerdictSequence(Verdict(.reset(8)))),
            ("90a00000", VerdictSequence(Verdict(.goAway(.init(reach: .accepted))))),
            ("90a1000b", VerdictSequence(Verdict(.goAway(.init(code: 11, reason: nil, reach: .before))))),
            ("90a20000", VerdictSequence(Verdict(.goAway(.init(reach: .unanswered))))),
            ("c105ed00", VerdictSequence(Verdict(.close))),
        ])
    func table(_ prefix: String, _ expected: VerdictSequence) {
        #expect(sequence(prefix) == expected)
    }

    @Test(
        "The help says which digits and statuses choose nothing", arguments: ["bad40400", "bad00418", "bad99200"])
    func pairs(_ prefix: String) {
        #expect(sequence(prefix) == nil)
        #expect(DeviceTokenPrefix.help.contains(prefix))
    }

    @Test(
        "Other tokens choose nothing",
        arguments: [
            "a1b2c3d4", "deadbeef", "badc0ffe", "fa110429", "fa112999", "de1a00ab12",
            "c0de000e", "90a30000", "0ff00001",
        ])
    func others(_ prefix: String) {
        #expect(sequence(prefix) == nil)
        #expect(DeviceTokenPrefix.sequence(of: Array("dead".utf8), now: 0) == nil)
    }
}
