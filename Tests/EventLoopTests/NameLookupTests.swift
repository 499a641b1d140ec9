import Dispatch
import Synchronization
import Testing

@testable import EventLoop

@Suite("Name look-ups", .timeLimit(.minutes(1)))
struct NameLookupTests {
    /// A name service that answers a look-up only when it is told to.
    private final class HungService: Sendable {
        private let answers = DispatchSemaphore(value: 0)

        func addresses(host: String, port: Int) -> [SocketAddress] {
            answers.wait()
            return [.loopback(port: port)]
        }

        func answer(_ count: Int = 1) {
            for _ in 0..<count { answers.signal() }
        }
    }

    /// What was delivered, in the order of arrival.
    private final class Inbox: Sendable {
        private let results = Mutex<[Result<[SocketAddress], EventLoopError>]>([])
        private let arrivals = DispatchSemaphore(value: 0)

        func deliver(_ result: Result<[SocketAddress], EventLoopError>) {
            results.withLock { $0.append(result) }
            arrivals.signal()
        }

        /// Waits until so many more have arrived.
        func wait(for count: Int = 1) {
            for _ in 0..<count { arrivals.wait() }
        }

        var all: [Result<[SocketAddress], EventLoopError>] { results.withLock { $0 } }
        var errors: [EventLoopError] {
            all.compactMap { result in
                if case .failure(let error) = result { return error }
                return nil
            }
        }
    }

    @Test("the system's answer is delivered, once, and so is its error")
    func answers() throws {
        let inbox = Inbox()
        NameLookup.start(host: "localhost", port: 8443, name: "test-lookup", inbox.deliver)
        inbox.wait()
        NameLookup.start(host: "no-such-host.invalid", port: 1, name: "test-lookup", inbox.deliver)
        inbox.wait()
        #expect(inbox.all.count == 2)
        #expect(try inbox.all[0].get().allSatisfy { $0.isLoopback && $0.port == 8443 })
        #expect(inbox.errors.map(\.code) == [.resolutionFailed])
        #expect(inbox.errors.first?.message.contains("no-such-host.invalid") == true)
    }

    @Test("a name service that hangs holds nobody up, and what it says in the end is delivered once")
    func hangs() throws {
        let service = HungService()
        let inbox = Inbox()
        let places = NameLookup.Places(2)
        NameLookup.start(
            host: "a.test", port: 7, name: "test-lookup", places: places, resolve: service.addresses, inbox.deliver)
        #expect(inbox.all.isEmpty)
        service.answer()
        inbox.wait()
        #expect(inbox.all.count == 1)
        #expect(try inbox.all[0].get() == [.loopback(port: 7)])
    }

    @Test("no more look-ups hang than there are places, the next one is told why, and each that ends makes room")
    func places() {
        let service = HungService()
        let inbox = Inbox()
        let places = NameLookup.Places(3)
        func lookUp(_ host: String) {
            NameLookup.start(
                host: host, port: 1, name: "test-lookup", places: places, resolve: service.addresses, inbox.deliver)
        }
        for number in 0..<3 { lookUp("\(number).test") }
        #expect(inbox.all.isEmpty)
        lookUp("late.test")
        #expect(inbox.all.count == 1, "delivered before start returned")
        #expect(inbox.errors.map(\.isRetriable) == [true])
        #expect(inbox.errors.first?.message.hasPrefix("no name is looked up: 3 look-ups wait") == true)

        inbox.wait()
        service.answer()
        inbox.wait()
        lookUp("again.test")
        #expect(inbox.all.count == 2, "it found the place that had become free")
        service.answer(3)
        inbox.wait(for: 3)
        #expect(inbox.all.count == 5 && inbox.errors.count == 1)
    }

    @Test("a numeric address is found where every place is taken: it needs no name service")
    func numeric() throws {
        let inbox = Inbox()
        NameLookup.start(host: "[::1]", port: 5, name: "test-lookup", places: NameLookup.Places(0), inbox.deliver)
        inbox.wait()
        #expect(try inbox.all.first?.get().map(\.description) == ["[::1]:5"])
    }

    @Test("a look-up that no thread could be started for gives its place back")
    func refused() {
        let inbox = Inbox()
        let places = NameLookup.Places(1)
        for _ in 0..<2 {
            NameLookup.start(
                host: "a.test", port: 1, name: "test-lookup", places: places, stackSize: 1,
                resolve: { _, _ in [] }, inbox.deliver)
        }
        #expect(inbox.errors.map(\.code) == [.threadFailed, .threadFailed])
    }

    @Test("the places of the process are few enough for the address space of its smallest container")
    func limit() {
        #expect(NameLookup.Places.ofProcess.limit == NameLookup.mostAtOnce)
        #expect(NameLookup.mostAtOnce * NameLookup.stackSize <= 32 << 20)
        #expect(NameLookup.patience == .seconds(60))
    }
}
