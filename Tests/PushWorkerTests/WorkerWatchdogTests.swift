import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The watchdog of a worker", .timeLimit(.minutes(1)))
struct WorkerWatchdogTests {
    @Test("a lane is stuck after ten looks without a turn, again after as many, and recovers with its next turn")
    func looks() {
        var watch = LaneWatch()
        var found: [Int: LaneWatch.Finding] = [:]
        for look in 0...25 {
            let finding = watch.look(turns: 4)
            if finding != .fine { found[look] = finding }
        }
        #expect(found == [10: .stuck(looks: 10), 20: .stuck(looks: 20)])
        #expect(watch.look(turns: 5) == .recovered)
        #expect(watch.look(turns: 6) == .fine)
    }

    @Test("a lane that turns now and then is not stuck")
    func slow() {
        var watch = LaneWatch()
        for look in 0..<200 { #expect(watch.look(turns: UInt64(look / 9)) == .fine) }
    }

    @Test("a lane that does not turn is named with what it stands at, and named again once it turns")
    func report() async throws {
        let pulse = LanePulse()
        pulse.turn()
        pulse.enter(.publishing)
        let lines = LogLines()
        let watchdog = WorkerWatchdog(
            lane: pulse, readiness: { WorkerReadiness(instance: "w", reasons: [], lane: nil, routes: []) },
            logger: lines.logger, interval: .milliseconds(20))
        _ = try LoopThread.start(name: "watchdog") { watchdog.run() }
        for await line in lines.stream where line.hasPrefix("the worker is ready") { break }
        for await line in lines.stream where line.hasPrefix("the lane does not turn") { break }
        #expect(pulse.isStuck)
        pulse.turn()
        for await line in lines.stream where line.hasPrefix("the lane turns again") { break }
        watchdog.stop()
        #expect(!pulse.isStuck)
        #expect(lines.all.contains { $0.contains("does not turn") && $0.contains("publishing to the broker") })
    }
}
