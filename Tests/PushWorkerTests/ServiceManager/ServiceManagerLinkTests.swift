import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import PushWorker

@Suite("The link to the service manager, on a real socket", .timeLimit(.minutes(1)))
struct ServiceManagerLinkTests {
    private typealias Look = ServiceManagerReport.Look

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A link whose looks a test sets.
    private func link(
        to address: String, watchdog: Duration? = nil, logger: Logger = silent, _ look: Shared<Look>
    ) -> ServiceManagerLink {
        let environment = ["NOTIFY_SOCKET": address]
        guard var place = ServiceManagerAddress(environment, processID: 1) else { preconditionFailure("no address") }
        place.watchdog = watchdog
        return ServiceManagerLink(place, logger: logger) { look.value }
    }

    @Test("A worker's life: waiting, ready, reloading, ready, stopping", arguments: [false, true])
    func life(isAbstract: Bool) {
        let manager = DatagramReader(isAbstract: isAbstract)
        let look = Shared(Look(hasStarted: false, reasons: ["lane 0 has not started"]))
        let link = link(to: manager.address, look)
        link.tell()
        #expect(manager.next() == "STATUS=waits: lane 0 has not started")
        look.value = Look()
        link.tell()
        #expect(manager.next() == "READY=1\nSTATUS=ready")
        link.reload { link.tell() }
        let reloading = manager.next() ?? ""
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect((Int(reloading.split(separator: "=").last ?? "") ?? 0) > 0)
        #expect(manager.next() == "READY=1")
        link.stop()
        link.stop()
        link.tell()
        #expect(manager.next() == "STOPPING=1\nSTATUS=draining")
        #expect(!manager.hasNext)
    }

    @Test("While it runs it looks by itself, feeds the watchdog, and says in the end that the worker stops")
    func runs() async throws {
        let manager = DatagramReader(isAbstract: true)
        let link = link(to: manager.address, watchdog: .milliseconds(20), Shared(Look()))
        let running = Task { try await link.run() }
        #expect(manager.next() == "READY=1\nSTATUS=ready\nWATCHDOG=1")
        for _ in 0..<3 { #expect(manager.next() == "WATCHDOG=1") }
        running.cancel()
        try await running.value
        var last: String?
        while manager.hasNext { last = manager.next() }
        #expect(last == "STOPPING=1\nSTATUS=draining")
    }

    @Test("A service manager that is away misses nothing that still holds, and is one line in the log")
    func away() {
        let log = RecordedLog()
        let look = Shared(Look())
        let address = "@martlet-\(UInt64.random(in: 0...UInt64.max))"
        let link = link(to: address, logger: log.logger, look)
        link.tell()
        link.tell()
        #expect(log.messages == ["the service manager cannot be told how the worker is doing"])
        let manager = DatagramReader(address: address)
        link.tell()
        #expect(manager.next() == "READY=1\nSTATUS=ready")
    }
}

/// A value that a test and what it tests share.
private final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
