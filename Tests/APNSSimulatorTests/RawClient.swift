import EventLoop
import HTTP2
import TLS

@testable import APNSSimulator

/// A blocking client on the bridges themselves: sees frames as they are.
final class RawClient: HTTP2ClientDelegate {
    struct Failure: Error {
        var message: String
    }

    private let socket: Socket
    private let tls: TLSSession
    private var session: HTTP2ClientSession?
    private var nextTag = 0
    private var isConnected = true
    private(set) var answers: [Int: RawAnswer] = [:]
    private(set) var settings: [HTTP2Settings] = []
    private(set) var goAways: [HTTP2GoAway] = []
    private var received: [UInt8] = []

    /// Connects, shakes hands and waits for the server's SETTINGS.
    init(
        _ simulator: RunningSimulator, protocols: [String] = ["h2"], certificate: ProviderCertificate? = nil,
        address: String = "127.0.0.1", settings: HTTP2Settings = HTTP2Settings(), port: Int? = nil
    ) throws {
        guard let target = SocketAddress(address, port: port ?? simulator.port) else {
            throw Failure(message: "no address")
        }
        socket = try Socket.connect(to: target, timeout: .seconds(5))
        let trust = TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM])
        let identity = try certificate.map {
            try CertificateIdentity(certificatePEM: $0.certificatePEM, keyPEM: $0.keyPEM)
        }
        let context = try TLSContext.client(trust: trust, identity: identity, applicationProtocols: protocols)
        tls = try TLSSession(client: context, serverName: "localhost")
        while try !tls.handshake() {
            try flushTLS()
            guard isConnected else { throw Failure(message: "the connection ended in the handshake") }
            try readSocket()
        }
        session = try HTTP2ClientSession(settings: settings, delegate: self)
        try flush()
        try wait { !self.settings.isEmpty }
    }

    /// Whether the server ended the connection.
    var isClosed: Bool { !isConnected }

    /// The frames that came, in order.
    var frames: [RawFrame] { RawFrame.all(in: received) }

    /// Sends bytes as they are, behind what is sent already.
    func write(_ bytes: [UInt8]) throws {
        try flush()
        try tls.write(bytes.span)
        try flushTLS()
    }

    /// Sends a request; its answer appears in ``answers``.
    @discardableResult
    func send(_ request: RequestBuilder) throws -> Int {
        let tag = try submit(request)
        try flush()
        return tag
    }

    /// Sends requests all at once; their answers appear in ``answers``.
    func send(_ requests: [RequestBuilder]) throws -> [Int] {
        let tags = try requests.map(submit)
        try flush()
        return tags
    }

    private func submit(_ request: RequestBuilder) throws -> Int {
        var head = HeaderBlock()
        for (name, value) in request.headers { head.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let tag = nextTag
        nextTag += 1
        answers[tag] = RawAnswer()
        _ = try session?.submit(head, body: request.payload, range: 0..<request.payload.count, tag: tag)
        return tag
    }

    /// Sends a request and waits for its end.
    func exchange(_ request: RequestBuilder) throws -> RawAnswer {
        let tag = try send(request)
        try wait { self.answers[tag]?.closure != nil }
        return answers[tag] ?? RawAnswer()
    }

    /// Serves the connection until a condition holds; fails after ten seconds.
    func wait(until condition: () -> Bool) throws {
        let start = MonotonicTime.now()
        while !condition() {
            guard MonotonicTime.now().nanoseconds(since: start) < 10_000_000_000 else {
                throw Failure(message: "nothing came within ten seconds")
            }
            guard isConnected else { throw Failure(message: "the connection ended") }
            try readSocket()
            try flush()
        }
    }

    /// Serves the connection until the server ends it.
    func waitForEnd() throws {
        while isConnected {
            try readSocket()
            if isConnected { try? flush() }
        }
    }

    /// Whether the server sends nothing for a time.
    func staysSilent(milliseconds: Int) throws -> Bool {
        try !socket.wait(for: .readable, timeout: .milliseconds(milliseconds))
    }

    private func readSocket() throws {
        guard try socket.wait(for: .readable, timeout: .seconds(10)) else { throw Failure(message: "silence") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let result: Socket.ReadResult
        do { result = try socket.read(into: &buffer) } catch { result = .closed }
        switch result {
        case .closed:
            isConnected = false
            session?.connectionLost()
            // As clients do; the gateway waits for that.
            SocketOptions.shutdown(socket.fileDescriptor)
        case .wouldBlock: break
        case .bytes(let count):
            tls.receive(buffer.span.extracting(0..<count))
            if session == nil { return }
            var plaintext = [UInt8](repeating: 0, count: 65_536)
            while case .bytes(let count) = try tls.read(into: &plaintext) {
                received += plaintext[..<count]
                try session?.receive(plaintext.span.extracting(0..<count))
            }
        }
    }

    private func flush() throws {
        var output: [UInt8] = []
        while session?.wantsToSend ?? false {
            output.removeAll()
            try session?.send(into: &output, upTo: 16_384)
            if output.isEmpty { break }
            try tls.write(output.span)
        }
        try flushTLS()
    }

    private func flushTLS() throws {
        while tls.pendingCiphertext > 0 {
            try tls.withPendingCiphertext { try socket.write($0) }
        }
    }

    func response(tag: Int, header name: Span<UInt8>, value: Span<UInt8>) {
        let name = Self.text(name)
        if name == ":status" {
            answers[tag]?.status = Int(Self.text(value)) ?? 0
        } else {
            answers[tag]?.headers[name] = Self.text(value)
        }
    }

    func response(tag: Int, data: Span<UInt8>) { answers[tag]?.body += Self.text(data) }

    func streamClosed(tag: Int, streamID: Int32, _ closure: StreamClosure) { answers[tag]?.closure = closure }

    func received(settings: HTTP2Settings) { self.settings.append(settings) }

    func received(goAway: HTTP2GoAway) { goAways.append(goAway) }

    func pingAcknowledged(_ opaque: UInt64) {}

    private static func text(_ bytes: Span<UInt8>) -> String {
        String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
    }
}
