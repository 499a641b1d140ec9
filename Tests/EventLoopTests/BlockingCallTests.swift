import Dispatch
import Synchronization
import Testing

@testable import EventLoop

@Suite("Calls that may hang", .timeLimit(.minutes(1)))
struct BlockingCallTests {
    /// A system that answers a call only when it is told to.
    private final class HungSystem: Sendable {
        private let answers = DispatchSemaphore(value: 0)

        func call() -> Int {
            answers.wait()
            return 7
        }

        func answer(_ count: Int = 1) {
            for _ in 0..<count { answers.signal() }
        }
    }

    /// What was delivered, in the order of arrival.
    private final class Inbox<Value: Sendable>: Sendable {
        private let results = Mutex<[Result<Value, EventLoopError>]>([])
        private let arrivals = DispatchSemaphore(value: 0)

        func deliver(_ result: Result<Value, EventLoopError>) {
            results.withLock { $0.append(result) }
            arrivals.signal()
        }

        /// Waits until so many more have arrived.
        func wait(for count: Int = 1) {
            for _ in 0..<count { arrivals.wait() }
        }

        var all: [Result<Value, EventLoopError>] { results.withLock { $0 } }
        var errors: [EventLoopError] {
            all.compactMap { result in
                if case .failure(let error) = result { return error }
                return nil
            }
        }
    }

    @Test("what a call returns is delivered, once, and so is its error")
    func answers() throws {
        let inbox = Inbox<[SocketAddress]>()
        for host in ["localhost", "no-such-host.invalid"] {
            BlockingCall.start(name: "test-call") { () throws(EventLoopError) in
                try Resolver.addresses(host: host, port: 8443)
            } deliver: {
                inbox.deliver($0)
            }
            inbox.wait()
        }
        #expect(inbox.all.count == 2)
        #expect(try inbox.all[0].get().allSatisfy { $0.isLoopback && $0.port == 8443 })
        #expect(inbox.errors.map(\.code) == [.resolutionFailed])
        #expect(inbox.errors.first?.message.contains("no-such-host.invalid") == true)
    }

    @Test("a call that hangs holds nobody up, and what it returns in the end is delivered once")
    func hangs() throws {
        let system = HungSystem()
        let inbox = Inbox<Int>()
        BlockingCall.start(name: "test-call", places: BlockingCall.Places(2), system.call, deliver: inbox.deliver)
        #expect(inbox.all.isEmpty)
        system.answer()
        inbox.wait()
        #expect(inbox.all.count == 1)
        #expect(try inbox.all[0].get() == 7)
    }

    @Test("no more calls hang than there are places, the next one is told why, and each that ends makes room")
    func places() {
        let system = HungSystem()
        let inbox = Inbox<Int>()
        let places = BlockingCall.Places(3)
        func start() {
            BlockingCall.start(name: "test-call", places: places, system.call, deliver: inbox.deliver)
        }
        for _ in 0..<3 { start() }
        #expect(inbox.all.isEmpty)
        start()
        #expect(inbox.all.count == 1, "delivered before start returned")
        #expect(inbox.errors.map(\.isRetriable) == [true])
        #expect(inbox.errors.first?.message.hasPrefix("no name is looked up and no file read: 3 calls wait") == true)

        inbox.wait()
        system.answer()
        inbox.wait()
        start()
        #expect(inbox.all.count == 2, "it found the place that had become free")
        system.answer(3)
        inbox.wait(for: 3)
        #expect(inbox.all.count == 5 && inbox.errors.count == 1)
    }

    @Test("a call that no thread could be started for gives its place back")
    func refused() {
        let inbox = Inbox<Int>()
        let places = BlockingCall.Places(1)
        for _ in 0..<2 {
            BlockingCall.start(name: "test-call", places: places, stackSize: 1, { 0 }, deliver: inbox.deliver)
        }
        #expect(inbox.errors.map(\.code) == [.threadFailed, .threadFailed])
    }

    @Test("the places of the process are few enough for the address space of its smallest container")
    func limit() {
        #expect(BlockingCall.Places.ofProcess.limit == BlockingCall.mostAtOnce)
        #expect(BlockingCall.mostAtOnce * BlockingCall.stackSize <= 32 << 20)
        #expect(BlockingCall.patience == .seconds(60))
    }
}
