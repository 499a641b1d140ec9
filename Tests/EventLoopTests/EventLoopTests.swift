import EventLoop
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Event loop", .timeLimit(.minutes(1)))
struct EventLoopTests {
    @Test("carries a megabyte through an echo, with writes that do not fit at once")
    func echo() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let message = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let echo = EchoPeer(loop, Socket(takingOwnershipOf: ends.0), sending: [])
        let sender = EchoPeer(loop, Socket(takingOwnershipOf: ends.1), sending: message)
        echo.isEcho = true
        try echo.start()
        try sender.start()
        #expect(try turn(loop) { sender.received.count >= message.count })
        #expect(sender.received == message)
        echo.stop()
        sender.stop()
    }

    @Test("reports only what is asked for, and hang-ups in any case")
    func interest() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        let recorder = Recorder()
        try loop.watch(socket.fileDescriptor, for: [], handler: recorder)
        try loop.turn(waitingAtMost: .zero)
        #expect(recorder.seen == [])
        try loop.change(socket.fileDescriptor, to: [.readable, .writable])
        try loop.turn(waitingAtMost: .zero)
        #expect(recorder.seen == [.writable])
        try loop.change(socket.fileDescriptor, to: .readable)
        close(ends.1)
        try loop.turn(waitingAtMost: .zero)
        #expect(recorder.seen.last == [.readable, .hangUp])
        try loop.change(socket.fileDescriptor, to: [])
        try loop.turn(waitingAtMost: .zero)
        #expect(recorder.seen.last == [.hangUp])
        loop.unwatch(socket.fileDescriptor)
        loop.unwatch(socket.fileDescriptor)
        let before = recorder.seen.count
        try loop.turn(waitingAtMost: .zero)
        #expect(recorder.seen.count == before)
    }

    @Test("drops an event whose socket was unwatched earlier in the same turn, even if its number is another's now")
    func staleEvents() throws {
        let loop = try EventLoop()
        // High numbers of our own, so that no other test takes them in between.
        let numbers: [Int32] = [901, 902]
        let pairs = try numbers.map { number in
            let ends = try Socket.descriptorPair()
            #expect(dup2(ends.0, number) == number)
            close(ends.0)
            return ends.1
        }
        defer { pairs.forEach { close($0) } }
        let newcomer = Recorder()
        var replacement: Int32 = -1
        let swapper = Recorder()
        swapper.action = { _ in
            // Whichever of the two comes first: the other's event of this turn is stale from here on.
            for number in numbers {
                loop.unwatch(number)
                close(number)
            }
            guard let ends = try? Socket.descriptorPair() else { return }
            replacement = ends.1
            for number in numbers {
                dup2(ends.0, number)
                try? loop.watch(number, for: .readable, handler: newcomer)
            }
            close(ends.0)
        }
        for number in numbers { try loop.watch(number, for: .writable, handler: swapper) }
        try loop.turn(waitingAtMost: .zero)
        #expect(swapper.seen == [.writable])
        #expect(newcomer.seen == [])
        // The newcomer is served as soon as it has something of its own.
        #expect(send(replacement, "x", 1, Int32(MSG_NOSIGNAL)) == 1)
        try loop.turn(waitingAtMost: .zero)
        #expect(newcomer.seen == [.readable, .readable])
        for number in numbers {
            loop.unwatch(number)
            close(number)
        }
        close(replacement)
    }

    @Test("a handler that nobody else holds may unwatch itself")
    func selfUnwatch() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        defer { close(ends.1) }
        weak var weakHandler: Recorder?
        let number = socket.fileDescriptor
        do {
            let handler = Recorder()
            weakHandler = handler
            handler.action = { [unowned handler] _ in
                loop.unwatch(number)
                handler.seen.append(.hangUp)
            }
            try loop.watch(number, for: .writable, handler: handler)
        }
        #expect(weakHandler != nil)
        try loop.turn(waitingAtMost: .zero)
        #expect(weakHandler == nil)
    }

    @Test("refuses to watch a socket twice or a number that is not a socket")
    func refusals() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        defer { close(ends.1) }
        try loop.watch(socket.fileDescriptor, for: .readable, handler: Recorder())
        let twice = #expect(throws: EventLoopError.self) {
            try loop.watch(ends.0, for: .readable, handler: Recorder())
        }
        #expect(twice?.errno == EEXIST)
        let none = #expect(throws: EventLoopError.self) { try loop.watch(-1, for: .readable, handler: Recorder()) }
        #expect(none?.errno == EBADF)
        #expect(none?.isRetriable == false)
    }

    @Test("serves sockets before timers and gives both the time of the turn")
    func turnOrder() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        defer { close(ends.1) }
        var order: [String] = []
        var times: [MonotonicTime] = []
        let handler = Recorder()
        handler.action = { now in
            order.append("socket")
            times.append(now)
        }
        try loop.watch(socket.fileDescriptor, for: .writable, handler: handler)
        _ = loop.schedule(at: .now()) { now in
            order.append("timer")
            times.append(now)
        }
        let now = try loop.turn(waitingAtMost: .seconds(10))
        #expect(order == ["socket", "timer"])
        #expect(times == [now, now])
    }

    @Test("a turn whose wait a signal ended serves what came meanwhile, before timers can call it late")
    func interruptedWait() throws {
        let loop = try EventLoop()
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        defer { close(ends.1) }
        let recorder = Recorder()
        try loop.watch(socket.fileDescriptor, for: .readable, handler: recorder)
        // The signal's handler itself lets bytes come, so that they never come without the signal.
        interruption.store(ends.1, ordering: .sequentiallyConsistent)
        signal(SIGURG) { _ in _ = write(interruption.load(ordering: .sequentiallyConsistent), "x", 1) }
        defer { signal(SIGURG, SIG_DFL) }
        // Threads that tests run on block signals.
        var (urgent, usual) = (sigset_t(), sigset_t())
        sigaddset(&urgent, SIGURG)
        pthread_sigmask(SIG_UNBLOCK, &urgent, &usual)
        defer { pthread_sigmask(SIG_SETMASK, &usual, nil) }
        let turning = UInt(pthread_self())
        let status = try #require(realpath("/proc/thread-self/stat", nil))
        defer { free(status) }
        let path = String(cString: status)
        let thread = try LoopThread.start(name: "interrupts") {
            while !isAsleep(path) { sched_yield() }
            pthread_kill(pthread_t(turning), SIGURG)
        }
        defer { thread.join() }
        try loop.turn(waitingAtMost: .seconds(50))
        #expect(recorder.seen == [.readable])
    }

    @Test("a timer that schedules for now runs in the next turn, so that sockets are not starved")
    func timerStarvation() throws {
        let loop = try EventLoop()
        var runs = 0
        var next: TimerID?
        func again(_ now: MonotonicTime) {
            runs += 1
            next = loop.schedule(at: now, again)
        }
        next = loop.schedule(at: .now(), again)
        for turns in 1...5 {
            try loop.turn(waitingAtMost: .seconds(10))
            #expect(runs == turns)
        }
        // The last one holds the loop that holds it.
        loop.cancel(try #require(next))
    }

    @Test("waits for the next timer, never past it by much and never shorter")
    func timerWait() throws {
        let loop = try EventLoop()
        let deadline = MonotonicTime.now().adding(.milliseconds(20))
        var ran: MonotonicTime?
        _ = loop.schedule(at: deadline) { ran = $0 }
        #expect(try turn(loop) { ran != nil })
        #expect(try #require(ran) >= deadline)
    }

    @Test("a cancelled timer does not end the wait")
    func cancelledTimer() throws {
        let loop = try EventLoop()
        let timer = loop.schedule(at: .now().adding(.milliseconds(1))) { _ in Issue.record("cancelled timer ran") }
        loop.cancel(timer)
        let before = MonotonicTime.now()
        let after = try loop.turn(waitingAtMost: .milliseconds(30))
        #expect(after.nanoseconds(since: before) >= 30_000_000)
    }

    @Test("lets loop, wake-up, handlers and timers go")
    func leaks() throws {
        weak var weakLoop: EventLoop?
        weak var weakWakeup: Wakeup?
        weak var weakHandler: Recorder?
        do {
            let loop = try EventLoop()
            let ends = try Socket.descriptorPair()
            let socket = Socket(takingOwnershipOf: ends.0)
            close(ends.1)
            let handler = Recorder()
            try loop.watch(socket.fileDescriptor, for: .readable, handler: handler)
            _ = loop.schedule(at: .now().adding(.seconds(1000))) { _ in handler.seen = [] }
            try loop.turn(waitingAtMost: .zero)
            weakLoop = loop
            weakWakeup = loop.wakeup
            weakHandler = handler
        }
        #expect(weakLoop == nil)
        #expect(weakWakeup == nil)
        #expect(weakHandler == nil)
        // One that never turned.
        _ = try EventLoop()
    }
}

/// Where the handler of a signal writes.
private let interruption = Atomic<Int32>(-1)

/// Whether a thread waits in the kernel, as its `stat` of proc(5) tells.
private func isAsleep(_ path: String) -> Bool {
    guard let file = fopen(path, "r") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil, let name = strrchr(line, Int32(UInt8(ascii: ")"))) else {
        return false
    }
    return name[2] == CChar(UInt8(ascii: "S"))
}

/// Writes down what it was told, and does what the test says.
private final class Recorder: ReadinessHandler {
    var seen: [Readiness] = []
    var action: ((MonotonicTime) -> Void)?

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        seen.append(readiness)
        action?(now)
    }
}

/// Sends bytes and collects what comes; an echo sends what it gets.
private final class EchoPeer: ReadinessHandler {
    private let loop: EventLoop
    private let socket: Socket
    private var outgoing: [UInt8]
    private var sent = 0
    private var buffer = [UInt8](repeating: 0, count: 4096)
    var isEcho = false
    var received: [UInt8] = []

    init(_ loop: EventLoop, _ socket: consuming Socket, sending bytes: [UInt8]) {
        self.loop = loop
        self.socket = socket
        outgoing = bytes
    }

    func start() throws {
        try loop.watch(socket.fileDescriptor, for: [.readable, .writable], handler: self)
    }

    func stop() {
        loop.unwatch(socket.fileDescriptor)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        do {
            if readiness.contains(.readable), case .bytes(let count) = try socket.read(into: &buffer) {
                if isEcho { outgoing += buffer[..<count] } else { received += buffer[..<count] }
            }
            let bytes = outgoing
            sent += try socket.write(bytes.span.extracting(sent..<bytes.count))
            try loop.change(socket.fileDescriptor, to: sent < outgoing.count ? [.readable, .writable] : .readable)
        } catch {
            Issue.record(error)
        }
    }
}
