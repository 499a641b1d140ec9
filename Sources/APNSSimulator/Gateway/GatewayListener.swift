import EventLoop
import Logging

/// One address the gateway listens at. Lives on the thread of the loop that accepts.
final class GatewayListener: ReadinessHandler {
    /// The address without its port, as it was asked for.
    let host: String

    /// The loop that gets the clients and distributes them.
    weak var loop: GatewayLoop?

    private let listener: Listener

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - host: The address without its port.
    ///   - address: The address with its port.
    ///   - backlog: How many clients may wait to be accepted.
    /// - Throws: `EventLoopError` where the address cannot be had.
    init(host: String, address: SocketAddress, backlog: Int) throws {
        self.host = host
        listener = try Listener(address: address, backlog: backlog)
    }

    /// The port.
    var port: Int { listener.address.port }

    /// The descriptor, for watching.
    var fileDescriptor: Int32 { listener.fileDescriptor }

    /// Accepts the clients that wait.
    ///
    /// - Parameters:
    ///   - readiness: Not looked at.
    ///   - now: The time of the loop's turn.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard let loop else { return }
        do {
            while let socket = try listener.accept() { loop.place(socket) }
        } catch {
            loop.logger.warning("cannot accept a connection", metadata: .simulator([.error: "\(error)"]))
        }
    }
}
