import Synchronization

/// The place where the lane leaves its counters for readers of metrics. The lane publishes at most every 250 ms
/// (`LaneReport.interval`), and once more when a route has left or the lane ends. It never waits for more than a copy.
package final class LaneMetrics: Sendable {
    private let snapshot: Mutex<LaneSnapshot>

    /// Makes a place that holds zeros.
    package init() { snapshot = Mutex(LaneSnapshot(lane: LaneCounters(), routes: [])) }

    /// Replaces what is there; called by the lane.
    package func publish(_ latest: LaneSnapshot) {
        snapshot.withLock { $0 = latest }
    }

    /// The latest that was published.
    package var latest: LaneSnapshot { snapshot.withLock { $0 } }
}
