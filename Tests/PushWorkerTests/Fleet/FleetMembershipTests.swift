import EventLoop
import Testing

@testable import PushWorker

@Suite("Which other workers live", .timeLimit(.minutes(1)))
struct FleetMembershipTests {
    private func time(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

    /// Lets a report be heard, and expects whether it is taken.
    private func hear(
        _ instance: String, startedAt: Int64 = 1, isLeaving: Bool = false, at seconds: Int, isTaken: Bool = true,
        _ membership: inout FleetMembership
    ) {
        let report = FleetReport(instance: instance, startedAt: startedAt, isLeaving: isLeaving)
        let wasTaken = membership.heard(report, now: time(seconds))
        #expect(wasTaken == isTaken, "\(report)")
    }

    @Test("Who has been silent for 15 s is gone, once this worker's own report shows that reports arrive")
    func silence() {
        var membership = FleetMembership()
        hear("b", at: 0, &membership)
        hear("c", at: 10, &membership)
        membership.echoed(now: time(14))
        #expect(membership.names == ["b", "c"])
        membership.echoed(now: time(15))
        #expect(membership.names == ["c"])
    }

    @Test("The last word of an earlier worker of a name does not end the one that took its place")
    func successor() {
        var membership = FleetMembership()
        hear("b", at: 0, &membership)
        hear("b", startedAt: 2, at: 0, &membership)
        hear("b", isLeaving: true, at: 0, &membership)
        hear("b", at: 0, &membership)
        #expect(membership.names == ["b"])
        hear("b", startedAt: 2, isLeaving: true, at: 1, &membership)
        #expect(membership.names == [])
    }

    @Test("There are at most a thousand workers; reports of more are ignored, those of known ones are not")
    func limit() {
        var membership = FleetMembership()
        for index in 1..<FleetMembership.mostWorkers {
            hear("w-\(index)", at: 0, &membership)
        }
        hear("more", at: 0, isTaken: false, &membership)
        hear("w-7", at: 1, &membership)
        #expect(membership.names.count == FleetMembership.mostWorkers - 1)
        hear("w-7", isLeaving: true, at: 1, &membership)
        hear("more", at: 1, &membership)
    }
}
