import EventLoop
import HTTP2
import TLS
import TestSupport

/// One connection of the scripted server.
final class ScriptedConnection: ReadinessHandler, HTTP2ServerDelegate {
    let number: Int
    private unowned let server: ScriptedServer
    private let socket: Socket
    private let tls: TLSSession
    private var http2: HTTP2ServerSession?
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var requestCount = 0
    /// The streams of requests about broadcast channels.
    private var managing: Set<Int32> = []
    private var isClosed = false
    /// Whether anything was read beneath TLS.
    private(set) var hasPlaintext = false
    private var pending: [(Int32, [Reaction])] = []

    init(_ socket: consuming Socket, number: Int, server: ScriptedServer, context: TLSContext) throws {
        self.number = number
        self.server = server
        tls = try TLSSession(server: context)
        self.socket = socket
        try server.loop.watch(self.socket.fileDescriptor, for: .readable, handler: self)
    }

    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        guard !isClosed, !server.isFrozen, !server.frozen.contains(number) else { return }
        do {
            while case .bytes(let count) = try socket.read(into: &buffer) {
                tls.receive(buffer.span.extracting(0..<count))
                if http2 == nil {
                    guard try tls.handshake(), !server.isMute else { continue }
                    http2 = try HTTP2ServerSession(
                        settings: server.settings, bodyLimit: 10_000, headerListLimit: 8_000, delegate: self)
                }
                var plaintext = [UInt8](repeating: 0, count: 16_384)
                while case .bytes(let count) = try tls.read(into: &plaintext) {
                    hasPlaintext = true
                    try http2?.receive(plaintext.span.extracting(0..<count))
                }
            }
            if readiness.contains(.hangUp) { return close() }
            let due = pending
            pending.removeAll()
            for (streamID, reactions) in due { perform(reactions, on: streamID) }
            flush()
        } catch {
            flushCiphertext()
            close()
        }
    }

    /// The subject of the client's certificate; nil where it showed none.
    var peerSubject: String? { tls.peerCertificateSubject }

    func perform(_ reactions: [Reaction], on streamID: Int32) {
        for reaction in reactions {
            guard let http2, !isClosed else { return }
            switch reaction {
            case .respond(let status, let body, let headers):
                let name = managing.contains(streamID) ? "apns-request-id" : "apns-id"
                let id = headers.contains { $0.0 == name } ? [] : [(name, "eabeae54-14a8-11e5-b60b-1697f925ec7b")]
                http2.respond(streamID: streamID, status: status, headers: headers + id, body: Array(body.utf8))
            case .gateway(let status, let body, let headers):
                http2.respond(streamID: streamID, status: status, headers: headers, body: Array(body.utf8))
            case .reset(let code): http2.reset(streamID: streamID, code)
            case .goAway(let last, let code, let debug):
                http2.goAway(lastStreamID: last ?? streamID, code, debugData: Array(debug.utf8))
            case .announce(let limit): try? http2.submit(settings: HTTP2Settings(maxConcurrentStreams: limit))
            case .raw(let bytes):
                flush()
                for start in stride(from: 0, to: bytes.count, by: 16_384) {
                    try? tls.write(bytes.span.extracting(start..<min(start + 16_384, bytes.count)))
                }
                flushCiphertext()
            case .drop: close()
            }
        }
    }

    func flush() {
        guard let http2, !isClosed else { return flushCiphertext() }
        if server.returnsWindow { http2.reopenWindow(from: 0) }
        var frames: [UInt8] = []
        while http2.wantsToSend {
            frames.removeAll(keepingCapacity: true)
            guard (try? http2.send(into: &frames, upTo: 16_384)) != nil, !frames.isEmpty else { break }
            try? tls.write(frames.span)
        }
        flushCiphertext()
    }

    private func flushCiphertext() {
        var isBlocked = false
        while tls.pendingCiphertext > 0, !isBlocked, !isClosed {
            tls.withPendingCiphertext { (bytes: Span<UInt8>) -> Int in
                let taken = (try? socket.write(bytes)) ?? 0
                isBlocked = taken == 0
                return taken
            }
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
        let fields = request.headers.map { (String(decoding: $0.name, as: UTF8.self), $0.value) }
        for (name, value) in fields { headers[name] = String(decoding: value, as: UTF8.self) }
        let seen = SeenRequest(
            connection: number, number: requestCount, streamID: request.streamID, headers: headers,
            headerNames: fields.map(\.0), body: request.body, openStreams: http2?.openStreams ?? 0)
        requestCount += 1
        if headers["apns-request-id"] != nil { managing.insert(request.streamID) }
        server.requests.append(seen)
        pending.append((request.streamID, server.script(seen)))
    }

    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {}
    func received(goAway: HTTP2GoAway) {}
}
