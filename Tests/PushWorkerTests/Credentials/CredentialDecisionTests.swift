import APNSClient
import EventLoop
import TLS
import TestSupport
import Testing

@testable import PushWorker
@testable import WorkerSettings

@Suite("Credential decisions", .timeLimit(.minutes(1)))
struct CredentialDecisionTests {
    typealias Expiry = CredentialExpiryStateMachine

    @Test("each stage is told once as a year goes by, a replacement begins again")
    func expiry() {
        var machine = Expiry()
        let day: Int64 = 86_400
        var told: [(Int64, Expiry.Stage)] = []
        for hour in stride(from: Int64(0), through: 366 * 24, by: 1) {
            let now = hour * 3_600
            if let stage = machine.advance(notAfter: 365 * day, now: now) { told.append((now, stage)) }
        }
        #expect(told.map(\.1) == [.month, .fortnight, .week, .day, .over])
        #expect(told.map(\.0) == [335 * day, 351 * day, 358 * day, 364 * day, 365 * day])
        #expect(machine.advance(notAfter: 730 * day, now: 366 * day) == nil)
        #expect(machine.advance(notAfter: 730 * day, now: 701 * day) == .month)
    }

    @Test(
        "a certificate found late is told once, for the stage it has reached",
        arguments: [
            (31, nil), (30, .month), (15, .month), (14, .fortnight), (8, .fortnight), (7, .week), (2, .week), (1, .day),
            (0, .over), (-400, .over),
        ] as [(Int64, Expiry.Stage?)])
    func late(days: Int64, expected: Expiry.Stage?) {
        var machine = Expiry()
        #expect(machine.advance(notAfter: days * 86_400, now: 0) == expected)
        #expect(machine.advance(notAfter: days * 86_400, now: 1) == nil)
    }

    @Test("a clock that is a minute off is reported once, and once when it is right again")
    func clock() {
        var watch = ClockSkewWatch()
        let told = [0, 59, -59, 60, 61, 3_600, 31, -40, 30, 10, -60, -3_600, 0, .min].map { watch.learned($0) }
        #expect(
            told == [nil, nil, nil, true, nil, nil, nil, nil, false, nil, true, nil, false, true])
    }

    @Test("a route whose credential's time is over takes nothing, and probes with one job after the replacement")
    func held() {
        var breaker = RouteBreaker()
        breaker.isHeld = true
        #expect(breaker.intake == .none && !breaker.isParked)
        breaker.credentialReplaced()
        #expect(breaker.intake == .one)
        breaker.credentialAccepted()
        #expect(breaker.intake == .full)
    }

    @Test("a replaced credential is probed at once, however long the route was to be parked")
    func replaced() {
        var breaker = RouteBreaker()
        breaker.credentialReplaced()
        #expect(breaker.state == .working, "what works is left alone")
        for _ in 0..<5 {
            breaker.credentialRefused(now: 0)
            breaker.tick(now: .distantFuture)
        }
        breaker.credentialRefused(now: 0)
        #expect(breaker.isParked && breaker.probeDelay > RouteBreaker.firstProbeDelay)
        breaker.credentialReplaced()
        #expect(breaker.state == .probing && breaker.probeDelay == RouteBreaker.firstProbeDelay)
        breaker.credentialRefused(now: 1)
        #expect(breaker.isParked)
    }

    @Test("metrics say how long certificates last, which version is in use, and how wrong the clock is")
    func metrics() {
        var shop = RouteCounters(tiers: 2)
        shop.clockSkew = -75
        let snapshot = LaneSnapshot(lane: LaneCounters(), routes: [shop, nil])
        let text = String(
            decoding: sampleMetrics().text(
                snapshot, routes: sampleRoutes,
                credentials: [
                    CredentialStatus(name: "cert", version: 3, notAfter: 1_000_100),
                    CredentialStatus(name: "key", version: 1, notAfter: nil),
                    CredentialStatus(name: "old", version: 1, notAfter: 999_000),
                ], now: 1_000_000), as: UTF8.self)
        #expect(text.contains("martlet_credential_expiry_seconds{credential=\"cert\"} 100\n"))
        #expect(text.contains("martlet_credential_expiry_seconds{credential=\"old\"} -1000\n"))
        #expect(!text.contains("martlet_credential_expiry_seconds{credential=\"key\"}"))
        #expect(text.contains("martlet_credential_version{credential=\"cert\"} 3\n"))
        #expect(text.contains("martlet_apns_clock_skew_seconds{route=\"shop\"} -75\n"))
        #expect(!text.contains("martlet_apns_clock_skew_seconds{route=\"beta\"}"))
    }
}
