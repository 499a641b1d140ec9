import EventLoop
import Testing

@testable import PushWorker

@Suite("What the service manager is told", .timeLimit(.minutes(1)))
struct ServiceManagerReportTests {
    private typealias Look = ServiceManagerReport.Look
    private typealias Message = ServiceManagerMessage
    private let begin = MonotonicTime(nanoseconds: 1_000_000_000)

    /// A report that has told that the worker is ready.
    private func running(watchdog: Duration? = nil) -> ServiceManagerReport {
        var report = ServiceManagerReport(watchdog: watchdog)
        _ = report.next(Look(), at: begin)
        return report
    }

    @Test("A worker is ready once /readyz says so, and that is told once")
    func ready() {
        var report = ServiceManagerReport(watchdog: nil)
        let waiting = Look(reasons: ["broker (consuming): connection refused"])
        #expect(report.next(waiting, at: begin) == Message(status: "waits: broker (consuming): connection refused"))
        #expect(report.next(waiting, at: begin + .seconds(1)) == nil)
        #expect(report.next(Look(), at: begin + .seconds(2)) == Message(change: .ready, status: "ready"))
        #expect(report.next(Look(), at: begin + .seconds(3)) == nil)
        #expect(
            report.next(Look(reasons: ["blocked", "draining"]), at: begin + .seconds(4))
                == Message(status: "waits: blocked (and 1 more)"), "not ready later is a status, and no change")
    }

    @Test("A worker that turns and still waits is called ready in the end; one that does not turn is not")
    func patience() {
        let late = begin + ServiceManagerReport.patience
        let rows: [(Look, isReady: Bool)] = [
            (Look(reasons: ["route shop: InvalidProviderToken"]), true),
            (Look(hasStarted: false, reasons: ["lane 0 has not started"]), false),
            (Look(isAlive: false), false),
            (Look(isAlive: false, reasons: ["blocked"]), false),
        ]
        for (look, isReady) in rows {
            var report = ServiceManagerReport(watchdog: nil)
            #expect(report.next(look, at: begin)?.change == nil)
            #expect(report.next(look, at: late)?.change == (isReady ? .ready : nil))
        }
    }

    @Test("The watchdog is fed every half of its time, while every lane turns")
    func watchdog() {
        var report = running(watchdog: .seconds(30))
        let rows: [(seconds: Int, Look, feeds: Bool)] = [
            (1, Look(), false), (14, Look(), false), (15, Look(), true), (29, Look(), false),
            (31, Look(reasons: ["blocked"]), true), (46, Look(isAlive: false), false),
            (60, Look(isAlive: false), false), (61, Look(), true),
        ]
        for (seconds, look, feeds) in rows {
            let message = report.next(look, at: begin + .seconds(seconds))
            #expect((message?.feedsWatchdog ?? false) == feeds, "after \(seconds) s")
        }
        #expect(report.stop() == Message(change: .stopping, status: "draining"))
        #expect(report.next(Look(reasons: ["draining"]), at: begin + .seconds(90)) == Message(feedsWatchdog: true))
    }

    @Test("The first look feeds the watchdog, and without one nothing does")
    func firstLook() {
        var watched = ServiceManagerReport(watchdog: .seconds(30))
        #expect(watched.next(Look(hasStarted: false), at: begin)?.feedsWatchdog == true)
        var alone = ServiceManagerReport(watchdog: nil)
        #expect(alone.next(Look(), at: begin)?.feedsWatchdog == false)
    }

    @Test("A reload is told with its moment, and ready again once it is done")
    func reload() {
        var report = running()
        #expect(report.beginReload(at: begin + .seconds(1)) == Message(change: .reloading(begin + .seconds(1))))
        #expect(report.next(Look(), at: begin + .seconds(1)) == nil, "a look in between does not end it")
        report.endReload()
        #expect(report.next(Look(), at: begin + .seconds(2)) == Message(change: .ready))
        #expect(report.next(Look(), at: begin + .seconds(3)) == nil)
    }

    @Test("A reload of a worker that starts or stops is not news")
    func reloadOutOfTurn() {
        var starting = ServiceManagerReport(watchdog: nil)
        #expect(starting.beginReload(at: begin) == nil)
        starting.endReload()
        #expect(starting.next(Look(reasons: ["blocked"]), at: begin)?.change == nil)
        var stopping = running()
        _ = stopping.stop()
        #expect(stopping.beginReload(at: begin) == nil)
        stopping.endReload()
        #expect(stopping.next(Look(), at: begin + .seconds(1)) == nil)
    }

    @Test("A worker that stops says so once, and is never called ready after that")
    func stop() {
        var report = ServiceManagerReport(watchdog: nil)
        #expect(report.stop() == Message(change: .stopping, status: "draining"))
        #expect(report.stop() == nil)
        #expect(report.next(Look(), at: begin + .seconds(60)) == nil)
    }
}
