internal import CLinux
internal import Glibc
internal import HeapModule

/// What a descriptor is ready for, or what its owner wants to know.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A read will not block.
    package static let readable = Readiness(rawValue: 1)
    /// A write will not block.
    package static let writable = Readiness(rawValue: 2)
    /// The peer is gone or the descriptor failed; always reported.
    package static let hangUp = Readiness(rawValue: 4)
}

/// Told when a watched descriptor is ready, on the loop's thread.
package protocol ReadinessHandler: AnyObject {
    /// The descriptor is ready.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime)
}

/// Names one scheduled action, so that it can be cancelled.
package struct TimerID: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// Waits for descriptors and timers on one thread (epoll(7), level-triggered).
///
/// Confined to the thread that turns it; only its `wakeup` may be used from others.
package final class EventLoop {
    /// Events taken from the kernel in one turn.
    private static let eventsPerTurn = 64
    /// The data of the wake-up's own event; handlers use their slot numbers, which stay far below.
    private static let wakeupData = UInt64.max

    private struct Watch {
        var descriptor: Int32
        /// Counts uses of the slot, so that an event fetched before `unwatch` finds nobody.
        var use: UInt32
        var handler: (any ReadinessHandler)?
    }

    private struct Timer: Comparable {
        var due: UInt64
        var number: UInt64
        static func < (one: Timer, other: Timer) -> Bool { (one.due, one.number) < (other.due, other.number) }
    }

    /// Wakes a waiting turn from any thread.
    package let wakeup: Wakeup

    private let epoll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var watches: [Watch] = []
    private var freeSlots: [Int] = []
    private var slotOfDescriptor: [Int32: Int] = [:]
    private var timers = Heap<Timer>()
    private var actions: [UInt64: (MonotonicTime) -> Void] = [:]
    private var nextTimer: UInt64 = 0

    /// Creates a loop that watches nothing but its wake-up.
    package init() throws(EventLoopError) {
        wakeup = try Wakeup()
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .last("epoll_create1") }
        events = .allocate(capacity: Self.eventsPerTurn)
        var event = clinux_event(EPOLLIN.rawValue, Self.wakeupData)
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup.descriptor, &event) == 0 else { throw .last("epoll_ctl") }
    }

    deinit {
        close(epoll)
        events.deallocate()
    }

    /// Watches a descriptor until `unwatch`; the handler is kept alive as long.
    ///
    /// - Throws: `EventLoopError` when the kernel refuses, for instance for a file.
    package func watch(
        _ fileDescriptor: Int32, for interest: Readiness, handler: any ReadinessHandler
    ) throws(EventLoopError) {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = watches.count
            watches.append(Watch(descriptor: -1, use: 0, handler: nil))
        }
        watches[slot].descriptor = fileDescriptor
        watches[slot].handler = handler
        var event = clinux_event(Self.bits(interest), data(of: slot))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, fileDescriptor, &event) == 0 else {
            let error = EventLoopError.last("epoll_ctl")
            release(slot)
            throw error
        }
        slotOfDescriptor[fileDescriptor] = slot
    }

    /// Changes what a watched descriptor is watched for.
    package func change(_ fileDescriptor: Int32, to interest: Readiness) throws(EventLoopError) {
        guard let slot = slotOfDescriptor[fileDescriptor] else { return }
        var event = clinux_event(Self.bits(interest), data(of: slot))
        guard epoll_ctl(epoll, EPOLL_CTL_MOD, fileDescriptor, &event) == 0 else { throw .last("epoll_ctl") }
    }

    /// Stops watching; must come before the descriptor is closed. Its events of the same turn are dropped.
    package func unwatch(_ fileDescriptor: Int32) {
        guard let slot = slotOfDescriptor.removeValue(forKey: fileDescriptor) else { return }
        // The kernel forgets a closed descriptor by itself, so a failure here means nothing.
        _ = epoll_ctl(epoll, EPOLL_CTL_DEL, fileDescriptor, nil)
        release(slot)
    }

    /// Runs an action at the end of the first turn that ends at or after a moment.
    package func schedule(at moment: MonotonicTime, _ action: @escaping (MonotonicTime) -> Void) -> TimerID {
        nextTimer += 1
        timers.insert(Timer(due: moment.nanoseconds, number: nextTimer))
        actions[nextTimer] = action
        return TimerID(number: nextTimer)
    }

    /// Forgets a scheduled action; harmless when it ran already.
    package func cancel(_ timer: TimerID) {
        actions[timer.number] = nil
        // Cancelled entries leave the heap when they come due; more of them than live ones would be a leak.
        if timers.count > 64, timers.count > actions.count * 2 {
            timers = Heap(timers.unordered.filter { actions[$0.number] != nil })
        }
    }

    /// One turn: waits for an event, the next timer or the limit, then runs handlers and due timers.
    ///
    /// - Parameter limit: The longest wait; zero only looks.
    /// - Returns: The time after the wait, which handlers were given too.
    @discardableResult
    package func turn(waitingAtMost limit: Duration) throws(EventLoopError) -> MonotonicTime {
        let count = try wait(atMost: limit.nanoseconds)
        let now = MonotonicTime.now()
        for position in 0..<count { dispatch(events[position], now: now) }
        while let timer = timers.min, timer.due <= now.nanoseconds {
            timers.removeMin()
            actions.removeValue(forKey: timer.number)?(now)
        }
        return now
    }

    private func wait(atMost limit: UInt64) throws(EventLoopError) -> Int {
        var limit = limit
        if let timer = timers.min {
            let now = MonotonicTime.now().nanoseconds
            limit = min(limit, timer.due > now ? timer.due - now : 0)
        }
        // Rounded up, for a wait that ends just before its timer would spin through empty turns.
        let milliseconds = Int32(clamping: limit / 1_000_000 + (limit % 1_000_000 == 0 ? 0 : 1))
        let count = epoll_wait(epoll, events, Int32(Self.eventsPerTurn), milliseconds)
        if count >= 0 { return Int(count) }
        guard errno == EINTR else { throw .last("epoll_wait") }
        return 0
    }

    private func dispatch(_ event: epoll_event, now: MonotonicTime) {
        var event = event
        let data = clinux_event_data(&event)
        guard data != Self.wakeupData else {
            wakeup.clear()
            return
        }
        let slot = Int(data & 0xFFFF_FFFF)
        guard watches[slot].use == UInt32(data >> 32), let handler = watches[slot].handler else { return }
        var readiness: Readiness = []
        if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue | EPOLLRDHUP.rawValue) != 0 {
            readiness.insert(.hangUp)
        }
        handler.socketIsReady(readiness, now: now)
    }

    private func data(of slot: Int) -> UInt64 { UInt64(watches[slot].use) << 32 | UInt64(slot) }

    private func release(_ slot: Int) {
        watches[slot].use &+= 1
        watches[slot].handler = nil
        freeSlots.append(slot)
    }

    private static func bits(_ interest: Readiness) -> UInt32 {
        var bits = EPOLLRDHUP.rawValue
        if interest.contains(.readable) { bits |= EPOLLIN.rawValue }
        if interest.contains(.writable) { bits |= EPOLLOUT.rawValue }
        return bits
    }
}
