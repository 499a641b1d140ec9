import EventLoop
import Foundation
import HTTP2
import TLS

@testable import APNSSimulator

/// What came back for one request.
struct RawAnswer: Sendable {
    var status = 0
    var headers: [String: String] = [:]
    var body = ""
    var closure: StreamClosure?

    /// The reason in the body, empty where there is none.
    var reason: String {
        body.split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
    }
}

/// The header of a frame, RFC 9113, 4.1.
struct RawFrame: Equatable {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let goAway: UInt8 = 7

    var type: UInt8
    var flags: UInt8
    var stream: Int

    /// Whether it is the last frame of its stream.
    var endsStream: Bool { (type == Self.data || type == Self.headers) && flags & 1 != 0 }

    /// The frames in what a peer sent, in order.
    static func all(in bytes: [UInt8]) -> [RawFrame] {
        var frames: [RawFrame] = []
        var index = 0
        while index + 9 <= bytes.count {
            let number = bytes[(index + 5)..<(index + 9)].reduce(0) { $0 << 8 | Int($1) }
            frames.append(RawFrame(type: bytes[index + 3], flags: bytes[index + 4], stream: number))
            index += 9 + bytes[index..<(index + 3)].reduce(0) { $0 << 8 | Int($1) }
        }
        return frames
    }
}

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
        let result: ReadResult
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

/// Starts simulators in directories of their own.
enum SimulatorBench {
    /// Runs a body beside a simulator, then stops it and removes its directory.
    static func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)").path
        var configuration = SimulatorConfiguration(stateDirectory: directory)
        configuration.acceptsAnyKey = true
        configuration.adminPort = nil
        change(&configuration)
        let simulator = try await APNSSimulator.start(configuration)
        do {
            try await body(simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
        // Absent where the test chose a directory of its own.
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A push with a well-formed provider token made now.
    static func push(_ maker: TokenMaker, keyID: String = "ABC1234567", teamID: String = "DEF7654321") throws
        -> RequestBuilder
    {
        RequestBuilder().with(
            "authorization", try maker.bearer(issuedAt: maker.issuedAt, keyID: keyID, teamID: teamID))
    }

    /// Runs a program and returns what it printed. Waits on a thread of its own: the admin API needs the pool's.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try runBlocking(program, arguments) }) }
        }
    }

    private static func runBlocking(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String)
    {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
