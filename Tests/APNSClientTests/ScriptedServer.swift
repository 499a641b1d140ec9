import EventLoop
import HTTP2
import PushModel
import TLS
import TestSupport

/// An HTTP/2 server over TLS that does what a test says, on the test's own loop.
final class ScriptedServer: ReadinessHandler {
    let loop: EventLoop
    let port: Int
    /// What is announced first.
    var settings: HTTP2Settings
    var script: (SeenRequest) -> [Reaction] = { _ in [.respond(200)] }
    /// Whether PINGs are answered and anything is read at all.
    var isFrozen = false
    /// Connections that read nothing, by their numbers.
    var frozen: Set<Int> = []
    /// Whether nothing is said after TLS, for as long as a connection lives.
    var isMute = false
    /// Whether windows are opened again at once instead of when half of them is used.
    var returnsWindow = false
    private(set) var connections: [ScriptedConnection] = []
    private(set) var accepted = 0
    var requests: [SeenRequest] = []
    private let listener: Listener
    private let context: TLSContext

    init(
        loop: EventLoop, context: TLSContext, settings: HTTP2Settings = .init(maxConcurrentStreams: 1_000),
        address: SocketAddress = .loopback(port: 0)
    ) throws {
        self.loop = loop
        self.context = context
        self.settings = settings
        listener = try Listener(address: address)
        port = listener.address.port
        try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        while let socket = try? listener.accept() {
            accepted += 1
            guard let made = try? ScriptedConnection(socket, number: accepted - 1, server: self, context: context)
            else {
                continue
            }
            connections.append(made)
        }
    }

    func forget(_ connection: ScriptedConnection) { connections.removeAll { $0 === connection } }

    /// Announces another limit on all connections.
    func announce(maxConcurrentStreams: UInt32) throws {
        for connection in connections {
            connection.perform([.announce(maxConcurrentStreams: maxConcurrentStreams)], on: 0)
            connection.flush()
        }
    }

    func close() {
        loop.unwatch(listener.fileDescriptor)
        for connection in connections { connection.close() }
    }
}
