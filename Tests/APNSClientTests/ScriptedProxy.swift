import EventLoop
import TestSupport

@testable import APNSClient

/// A proxy that answers every request with the same bytes and then does nothing more.
final class ScriptedProxy: ReadinessHandler {
    private final class Client: ReadinessHandler {
        private let socket: Socket
        private let answer: [UInt8]
        private let closes: Bool
        private unowned let proxy: ScriptedProxy
        private var request: [UInt8] = []
        private var sent = 0
        private var hasAnswered = false

        init(_ socket: consuming Socket, proxy: ScriptedProxy) throws {
            self.socket = socket
            self.proxy = proxy
            (answer, closes) = (proxy.answer, proxy.closes)
            try proxy.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
        }

        func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case .bytes(let count)? = try? socket.read(into: &buffer) { request += buffer.prefix(count) }
            if !hasAnswered {
                guard request.suffix(4) == Array("\r\n\r\n".utf8) else { return end() }
                proxy.requests.append(String(decoding: request, as: UTF8.self))
                hasAnswered = true
            }
            while sent < answer.count {
                guard let taken = write() else { return end() }
                sent += taken
                if taken == 0 {
                    try? proxy.loop.change(socket.fileDescriptor, to: [.readable, .writable])
                    return
                }
            }
            try? proxy.loop.change(socket.fileDescriptor, to: .readable)
            if closes { end() }
        }

        private func write() -> Int? {
            let rest = Array(answer[sent...])
            do {
                return try socket.write(rest.span)
            } catch {
                return nil
            }
        }

        func end() {
            proxy.loop.unwatch(socket.fileDescriptor)
            SocketOptions.shutdown(socket.fileDescriptor)
        }
    }

    let loop: EventLoop
    let port: Int
    private(set) var requests: [String] = []
    private let listener: Listener
    private let answer: [UInt8]
    private let closes: Bool
    private var clients: [Client] = []

    init(loop: EventLoop, answer: [UInt8], closes: Bool) throws {
        self.loop = loop
        self.answer = answer
        self.closes = closes
        listener = try Listener(address: .loopback(port: 0))
        port = listener.address.port
        try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        while let socket = try? listener.accept() {
            if let client = try? Client(socket, proxy: self) { clients.append(client) }
        }
    }

    func close() {
        loop.unwatch(listener.fileDescriptor)
        for client in clients { client.end() }
    }
}
