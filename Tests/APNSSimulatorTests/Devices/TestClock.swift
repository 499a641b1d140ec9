import EventLoop
import Synchronization

/// A clock that tests move, in milliseconds since 1970.
final class TestClock: Sendable {
    private let offset = Atomic<Int64>(0)
    var now: Int64 { WallClock.milliseconds() + offset.load(ordering: .relaxed) }
    func advance(by milliseconds: Int64) { offset.add(milliseconds, ordering: .relaxed) }
}
