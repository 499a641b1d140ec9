package import EventLoop
import Synchronization

/// A TCP relay on this machine that behaves as badly as it is told, from one moment to the next.
///
/// It works on a thread of its own. What it has read and may not pass on yet is limited by ``highWater``; beyond that
/// only the peers' own windows limit what is under way.
package final class FaultProxy: Sendable {
    /// Which way bytes travel.
    package enum Direction: Sendable, CaseIterable {
        /// From the client to the server.
        case toServer
        /// From the server to the client.
        case toClient
    }

    /// How the relay treats bytes and connections.
    package struct Conditions: Sendable {
        /// How long every byte is held back, each way.
        package var delay = Duration.zero
        /// The ways that nothing passes: the relay then reads nothing, as a frozen peer does.
        package var stalled: Set<Direction> = []
        /// The most bytes written at a time.
        package var slice: Int?
        /// The most bytes per second, each way.
        package var bytesPerSecond: Int?
        /// How long a connection may be silent both ways before it is closed, as load balancers do.
        package var idleLimit: Duration?
        /// Whether new connections are reset at once.
        package var refuses = false

        /// A good network.
        package init() {}
    }

    /// What the relay is told.
    enum Order: Sendable {
        case conditions(Conditions)
        case target(Int)
        case reset
        case close
        case end
    }

    /// How many bytes a direction holds before the relay stops reading.
    static let highWater = 16 << 20

    /// Where clients connect.
    package let port: Int
    private let thread: LoopThread
    private let mailbox: Mailbox<Order>
    private let conditions: Mutex<Conditions>

    /// Starts the relay.
    ///
    /// - Parameters:
    ///   - port: Where the server listens, on 127.0.0.1.
    ///   - delay: How long every byte is held back, each way: half of a round trip.
    /// - Throws: `EventLoopError` when the system has no socket or thread left.
    package init(to port: Int, delay: Duration = .zero) throws(EventLoopError) {
        var conditions = Conditions()
        conditions.delay = delay
        self.conditions = Mutex(conditions)
        let relay = try FaultRelay(target: port, conditions: conditions)
        self.port = relay.port
        let mailbox = relay.mailbox
        self.mailbox = mailbox
        thread = try LoopThread.start(name: "fault-proxy") { relay.run() }
    }

    deinit {
        mailbox.post(.end)
        thread.join()
    }

    /// Changes how bytes and connections are treated from now on.
    ///
    /// - Parameter change: Makes the change.
    package func set(_ change: (inout Conditions) -> Void) {
        conditions.withLock { conditions in
            change(&conditions)
            mailbox.post(.conditions(conditions))
        }
    }

    /// Treats bytes and connections well again.
    package func heal() { set { $0 = Conditions() } }

    /// Relays new connections to another port.
    ///
    /// - Parameter port: Where the server listens, on 127.0.0.1.
    package func redirect(to port: Int) { mailbox.post(.target(port)) }

    /// Breaks all connections with a reset; what was under way is gone.
    package func reset() { mailbox.post(.reset) }

    /// Closes all connections both ways; what was under way is gone.
    package func close() { mailbox.post(.close) }
}
