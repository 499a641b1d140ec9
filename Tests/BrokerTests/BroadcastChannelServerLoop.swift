import EventLoop
import Synchronization
import TLS

/// The loop of the server.
final class BroadcastChannelServerLoop: ReadinessHandler {
    let loop: EventLoop
    let port: Int
    let mailbox: Mailbox<Bool>
    let shared: BroadcastChannelServer.Shared
    private let listener: Listener
    private let context: TLSContext
    private var connections: [BroadcastChannelServerConnection] = []

    init(context: TLSContext, shared: BroadcastChannelServer.Shared) throws {
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
        listener = try Listener(address: .loopback(port: 0))
        port = listener.address.port
        self.context = context
        self.shared = shared
        try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
    }

    func run() {
        while mailbox.take().isEmpty {
            guard (try? loop.turn(waitingAtMost: .seconds(5))) != nil else { return }
        }
        loop.unwatch(listener.fileDescriptor)
        for connection in connections { connection.close() }
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        while let socket = try? listener.accept() {
            guard let made = try? BroadcastChannelServerConnection(socket, server: self, context: context) else {
                continue
            }
            connections.append(made)
            shared.connections.withLock { $0 += 1 }
        }
    }

    func forget(_ connection: BroadcastChannelServerConnection) { connections.removeAll { $0 === connection } }
}
