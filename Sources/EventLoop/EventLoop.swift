import CLinux
import Glibc

/// Waits for sockets and timers with epoll(7) and runs what is ready, all on one thread.
///
/// It may be made on one thread and handed to another. From its first turn on it belongs to the thread of that turn.
package final class EventLoop {
    /// The most sockets that one turn serves. The other ready sockets follow in the next turns.
    private static let eventLimit = 256
    /// Marks the events of the wake-up. No socket carries this mark, because generations start at 1.
    private static let wakeupMark: UInt64 = 0

    private struct Watch {
        var generation: UInt32
        var handler: (any ReadinessHandler)?
    }

    /// Ends a wait from other threads.
    package let wakeup: Wakeup
    /// The clocks that it waits by.
    package let time: any TimeSource

    private let epoll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var watches: [Watch] = []
    private var generation: UInt32 = 0
    private var timers = TimerQueue()
    /// The time of the turn whose timers are being run.
    private var timerTurn: MonotonicTime?
    private var isTurning = false
    private var owner: pthread_t?

    /// Opens the epoll instance and the wake-up.
    ///
    /// - Parameter time: The clocks that it waits by.
    /// - Throws: `EventLoopError` when the process has no descriptor left.
    package init(time: any TimeSource = MachineTime()) throws(EventLoopError) {
        let wakeup = try Wakeup()
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw EventLoopError(.systemCall, "epoll_create1", errno: errno) }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: Self.wakeupMark))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup.fileDescriptor, &event) == 0 else {
            let error = EventLoopError(.systemCall, "epoll_ctl", errno: errno)
            close(epoll)
            throw error
        }
        self.wakeup = wakeup
        self.time = time
        self.epoll = epoll
        events = .allocate(capacity: Self.eventLimit)
    }

    deinit {
        close(epoll)
        events.deallocate()
    }

    /// Starts to watch a socket. The loop keeps the handler, not the descriptor, until `unwatch(_:)`.
    ///
    /// - Parameters:
    ///   - fileDescriptor: The socket; unwatch it before closing it.
    ///   - interest: What to wait for; hang-ups are reported in any case.
    ///   - handler: The object to tell.
    /// - Throws: `EventLoopError` when the system refuses, for example because the socket is already watched.
    package func watch(
        _ fileDescriptor: Int32, for interest: Readiness, handler: any ReadinessHandler
    ) throws(EventLoopError) {
        assertOwner()
        generation = generation == .max ? 1 : generation + 1
        try control(EPOLL_CTL_ADD, fileDescriptor, interest, generation: generation)
        while watches.count <= Int(fileDescriptor) { watches.append(Watch(generation: 0, handler: nil)) }
        watches[Int(fileDescriptor)] = Watch(generation: generation, handler: handler)
    }

    /// Changes the readiness that the loop waits for on a watched socket.
    ///
    /// - Parameters:
    ///   - fileDescriptor: A watched socket.
    ///   - interest: What to wait for from now on.
    /// - Throws: `EventLoopError` when the system refuses.
    package func change(_ fileDescriptor: Int32, to interest: Readiness) throws(EventLoopError) {
        assertOwner()
        let index = Int(fileDescriptor)
        precondition(
            watches.indices.contains(index) && watches[index].handler != nil,
            "change of a socket that is not watched")
        try control(EPOLL_CTL_MOD, fileDescriptor, interest, generation: watches[index].generation)
    }

    /// Stops watching a socket and releases its handler. Events that came in the same turn are dropped.
    ///
    /// - Parameter fileDescriptor: The socket; does nothing when it is not watched.
    package func unwatch(_ fileDescriptor: Int32) {
        assertOwner()
        let index = Int(fileDescriptor)
        guard watches.indices.contains(index), watches[index].handler != nil else { return }
        watches[index] = Watch(generation: 0, handler: nil)
        var unused = epoll_event()
        _ = epoll_ctl(epoll, EPOLL_CTL_DEL, fileDescriptor, &unused)
    }

    /// Runs something once at a given time, with a precision of a millisecond.
    ///
    /// A timer that another timer's action schedules for the turn's time or earlier runs in the next turn. So sockets
    /// are served in between.
    ///
    /// - Parameters:
    ///   - deadline: When to run it.
    ///   - action: What to run; gets the time of the turn. It is kept until it ran or was cancelled.
    /// - Returns: The timer's name.
    package func schedule(
        at deadline: MonotonicTime, _ action: @escaping (MonotonicTime) -> Void
    ) -> TimerID {
        assertOwner()
        guard let timerTurn else { return timers.schedule(at: deadline, action) }
        return timers.schedule(at: max(deadline, timerTurn.adding(nanoseconds: 1)), action)
    }

    /// Cancels a timer; does nothing when it has run or was cancelled before.
    ///
    /// - Parameter timer: The timer's name.
    package func cancel(_ timer: TimerID) {
        assertOwner()
        timers.cancel(timer)
    }

    /// Makes one turn: waits, serves the sockets that are ready, then runs the timers that are due.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most. A socket, the next timer, `wakeup` or a signal ends the wait earlier.
    ///   - awoke: Runs after the wait and before anything is served, with the time read then. It may unwatch sockets
    ///     and cancel timers: their events are dropped then.
    /// - Returns: The time read after waiting.
    /// - Throws: `EventLoopError` when waiting fails; only a bug can cause that.
    @discardableResult
    package func turn(
        waitingAtMost limit: Duration, awoke: (MonotonicTime) -> Void = { _ in }
    ) throws(EventLoopError) -> MonotonicTime {
        precondition(!isTurning, "turn inside a turn")
        if owner == nil { owner = pthread_self() }
        assertOwner()
        isTurning = true
        defer { isTurning = false }

        var count = epoll_wait(epoll, events, Int32(Self.eventLimit), waitMilliseconds(limit))
        // A signal ends the wait; so does the signal that continues a stopped process. Sockets that became ready
        // meanwhile are served before timers that fell due meanwhile: an answer that has arrived is not late.
        if count < 0, errno == EINTR { count = epoll_wait(epoll, events, Int32(Self.eventLimit), 0) }
        guard count >= 0 || errno == EINTR else { throw EventLoopError(.systemCall, "epoll_wait", errno: errno) }
        let now = time.monotonic
        awoke(now)
        for index in 0..<max(0, Int(count)) { dispatch(events[index], now: now) }
        timerTurn = now
        while let action = timers.popDue(now: now) { action(now) }
        timerTurn = nil
        return now
    }

    /// When the next timer is due; nil without timers.
    package var nextTimer: MonotonicTime? { timers.nextDeadline }

    private func waitMilliseconds(_ limit: Duration) -> Int32 {
        let longest = time.wait(limit).pollMilliseconds
        guard longest > 0, let deadline = timers.nextDeadline else { return longest }
        return min(longest, (deadline - time.monotonic).pollMilliseconds)
    }

    private func dispatch(_ event: epoll_event, now: MonotonicTime) {
        let mark = event.data.u64
        guard mark != Self.wakeupMark else { return wakeup.reset() }
        let index = Int(mark & 0xffff_ffff)
        // An earlier handler may have unwatched the socket, and its number may already belong to another socket.
        guard watches[index].generation == UInt32(truncatingIfNeeded: mark >> 32) else { return }
        watches[index].handler?.socketIsReady(Readiness(epoll: event.events), now: now)
    }

    private func control(
        _ operation: Int32, _ fileDescriptor: Int32, _ interest: Readiness, generation: UInt32
    ) throws(EventLoopError) {
        let mark = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: fileDescriptor))
        var event = epoll_event(events: interest.epollEvents, data: epoll_data_t(u64: mark))
        guard epoll_ctl(epoll, operation, fileDescriptor, &event) == 0 else {
            throw EventLoopError(.systemCall, "epoll_ctl on descriptor \(fileDescriptor)", errno: errno)
        }
    }

    private func assertOwner() {
        assert(owner.map { pthread_equal($0, pthread_self()) != 0 } ?? true, "event loop used on a foreign thread")
    }
}
