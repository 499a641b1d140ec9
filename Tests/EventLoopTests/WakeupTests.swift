import EventLoop
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Wake-up, mailbox, threads", .timeLimit(.minutes(1)))
struct WakeupTests {
    @Test("a message from another thread ends a long wait and is there to take")
    func wakeFromThread() throws {
        let loop = try EventLoop()
        let mailbox = Mailbox<Int>(waking: loop.wakeup)
        let before = MonotonicTime.now()
        let thread = try LoopThread.start(name: "poster") { mailbox.post(7) }
        let after = try loop.turn(waitingAtMost: .seconds(50))
        #expect(mailbox.take() == [7])
        #expect(mailbox.take() == [])
        #expect(after.nanoseconds(since: before) < 40_000_000_000)
        thread.join()
    }

    @Test("a wake-up given before the wait is not lost, and is used up by it")
    func wakeBefore() throws {
        let loop = try EventLoop()
        for _ in 0..<10 { loop.wakeup.wake() }
        let before = MonotonicTime.now()
        let first = try loop.turn(waitingAtMost: .seconds(50))
        #expect(first.nanoseconds(since: before) < 40_000_000_000)
        let second = try loop.turn(waitingAtMost: .milliseconds(20))
        #expect(second.nanoseconds(since: first) >= 20_000_000)
    }

    @Test("no message of eight busy threads is lost, doubled or out of its sender's order")
    func manySenders() throws {
        let loop = try EventLoop()
        let mailbox = Mailbox<(sender: Int, number: Int)>(waking: loop.wakeup)
        let perSender = 5000
        let threads = try (0..<8).map { sender in
            try LoopThread.start(name: "sender \(sender)", stackSize: 1 << 20) {
                for number in 0..<perSender { mailbox.post((sender, number)) }
            }
        }
        var next = [Int](repeating: 0, count: 8)
        // No time limit of the wait would hide a lost wake-up: the suite's own limit ends a hang.
        while next != [Int](repeating: perSender, count: 8) {
            try loop.turn(waitingAtMost: .seconds(50))
            for message in mailbox.take() {
                #expect(message.number == next[message.sender])
                next[message.sender] += 1
            }
        }
        threads.forEach { $0.join() }
    }

    @Test("a mailbox outlives its loop")
    func mailboxOutlivesLoop() throws {
        let mailbox: Mailbox<Int>
        do {
            let loop = try EventLoop()
            mailbox = Mailbox(waking: loop.wakeup)
        }
        mailbox.post(1)
        #expect(mailbox.take() == [1])
    }

    @Test("a thread has the stack it was promised")
    func stack() throws {
        /// Uses at least eight kilobytes of stack per level. The levels are few, because the thread sanitizer keeps a list
        /// of open calls, and has no room for any number of them.
        @inline(never)
        func descend(_ levels: Int) -> Int {
            var block = [1024 of Int](repeating: 1)
            block[levels % 1024] = levels
            return levels == 0 ? 0 : descend(levels - 1) + block[(levels + 1) % 1024]
        }
        let depth = Mutex(0)
        // 16 MiB at least: the usual 8 MiB would not do.
        let thread = try LoopThread.start(name: "deep", stackSize: 64 << 20) {
            depth.withLock { $0 = descend(2 << 10) }
        }
        thread.join()
        #expect(depth.withLock { $0 } == 2 << 10)
    }

    @Test("any number of waiters may join, and what the body held is let go")
    func join() throws {
        final class Token: Sendable {}
        weak var weakToken: Token?
        let waiter: LoopThread
        let worker: LoopThread
        do {
            let token = Token()
            weakToken = token
            worker = try LoopThread.start(name: "a name of more than fifteen bytes") { _ = token }
            waiter = try LoopThread.start(name: "waiter") { worker.join() }
        }
        worker.join()
        worker.join()
        waiter.join()
        #expect(weakToken == nil)
    }

    @Test("a stack that is too small is refused with an error")
    func tinyStack() {
        let error = #expect(throws: EventLoopError.self) { try LoopThread.start(name: "tiny", stackSize: 1) {} }
        #expect(error?.code == .threadFailed)
    }
}
