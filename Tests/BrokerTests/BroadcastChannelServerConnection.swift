import EventLoop
import HTTP2
import Synchronization
import TLS

/// One connection of the server.
final class BroadcastChannelServerConnection: ReadinessHandler, HTTP2ServerDelegate {
    private unowned let server: BroadcastChannelServerLoop
    private let socket: Socket
    private let tls: TLSSession
    private var http2: HTTP2ServerSession?
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isClosed = false

    init(_ socket: consuming Socket, server: BroadcastChannelServerLoop, context: TLSContext) throws {
        self.server = server
        tls = try TLSSession(server: context)
        self.socket = socket
        try server.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed else { return }
        do {
            reading: while true {
                switch try socket.read(into: &buffer) {
                case .wouldBlock: break reading
                case .closed: return close()
                case .bytes(let count): try receive(count)
                }
            }
            try flush()
        } catch {
            close()
        }
    }

    private func receive(_ count: Int) throws {
        tls.receive(buffer.span.extracting(0..<count))
        if http2 == nil {
            guard try tls.handshake() else { return }
            http2 = try HTTP2ServerSession(
                settings: HTTP2Settings(maxConcurrentStreams: 100), bodyLimit: 10_000, headerListLimit: 8_000,
                delegate: self)
        }
        var plaintext = [UInt8](repeating: 0, count: 16_384)
        while case .bytes(let count) = try tls.read(into: &plaintext) {
            try http2?.receive(plaintext.span.extracting(0..<count))
        }
    }

    private func flush() throws {
        while let http2, http2.wantsToSend {
            var frames: [UInt8] = []
            try http2.send(into: &frames, upTo: 16_384)
            guard !frames.isEmpty else { break }
            try tls.write(frames.span)
        }
        // What is sent here always fits the socket's buffer; a socket that takes nothing is given up.
        while tls.pendingCiphertext > 0 {
            var taken = 0
            try tls.withPendingCiphertext { (bytes: Span<UInt8>) throws -> Int in
                taken = try socket.write(bytes)
                return taken
            }
            if taken == 0 { return close() }
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        server.loop.unwatch(socket.fileDescriptor)
        SocketOptions.shutdown(socket.fileDescriptor)
        server.forget(self)
    }

    func received(request: HTTP2Request) {
        var headers: [String: String] = [:]
        for (name, value) in request.headers {
            headers[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        }
        let seen = BroadcastChannelServer.Request(headers: headers, body: String(decoding: request.body, as: UTF8.self))
        let before = server.shared.requests.withLock { requests in
            requests.append(seen)
            return requests.count { $0.line == seen.line } - 1
        }
        guard let response = server.shared.script(seen, before) else { return }
        if let farewell = response.farewell {
            http2?.goAway(lastStreamID: 0, .noError, debugData: Array(farewell.utf8))
            return
        }
        // As APNs does: each answer has the identifier of its request.
        let ids = ["apns-request-id", "apns-id"].compactMap { name in
            response.headers.contains { $0.0 == name } ? nil : headers[name].map { (name, $0) }
        }
        http2?.respond(
            streamID: request.streamID, status: response.status, headers: response.headers + ids,
            body: Array(response.body.utf8))
    }

    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {}
    func received(goAway: HTTP2GoAway) {}
}
