import EventLoop
import Glibc
import TLS
import TestSupport
import Testing

@testable import BrokerClient
@testable import RabbitMQ

/// A broker's end of one connection: it lets its client log in, and reads nothing more.
private final class EndingBroker {
    private let socket: Socket
    private let tls: TLSSession?
    private var isWelcoming = true

    init(_ listener: borrowing Listener, tls: TLSSession?) throws {
        self.tls = tls
        while true {
            guard let accepted = try listener.accept() else { continue }
            socket = accepted
            break
        }
    }

    /// Goes on until the client has been welcomed.
    func turn() throws {
        guard isWelcoming else { return }
        if let tls {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            if case .bytes(let count) = try socket.read(into: &buffer) {
                tls.receive(buffer.span.extracting(0..<count))
            }
            let isReady = try tls.handshake()
            try flush(tls)
            guard isReady else { return }
        }
        isWelcoming = false
        try send(Wire.welcome())
    }

    func send(_ bytes: [UInt8]) throws {
        if let tls {
            try tls.write(bytes.span)
            return try flush(tls)
        }
        let count = try socket.write(bytes.span)
        #expect(count == bytes.count)
    }

    private func flush(_ tls: TLSSession) throws {
        while tls.pendingCiphertext > 0 { try tls.withPendingCiphertext { try socket.write($0) } }
    }
}

@Suite("What a broker said before the connection was lost", .timeLimit(.minutes(1)))
struct LastWordsTests {
    private static let close: [UInt8] = Wire.method(0, 10, 50) {
        $0.u16(320)
        $0.short("CONNECTION_FORCED - the node is shut down")
        $0.u16(0)
        $0.u16(0)
    }

    /// Logs in, lets the broker speak and reset the connection, and writes without having read.
    private func write(
        after words: [UInt8], certificates: ThrowawayCertificates?
    ) throws -> (error: AMQPError?, events: [SessionEvent]) {
        let listener = try Listener(address: .loopback(port: 0))
        let recorder = SessionRecorder()
        let endpoint = AMQPEndpoint(
            host: "localhost", port: Int(listener.address.port), useTLS: certificates != nil)
        let connection = try BrokerConnection(
            BrokerTarget(endpoint: endpoint, address: listener.address, tls: try certificates?.clientContext()),
            clientName: "test", bodyLimit: 0, consumes: false, now: .now())
        try {
            let broker = try EndingBroker(
                listener, tls: try certificates.map { try TLSSession(server: try $0.serverContext()) })
            while connection.stage != .open {
                try broker.turn()
                try connection.wait(until: .now().adding(.milliseconds(5)), delegate: recorder)
            }
            try broker.send(words)
            // It has not read the login: so its end is a reset.
        }()
        var descriptor = pollfd(fd: connection.fileDescriptor, events: 0, revents: 0)
        while descriptor.revents & Int16(POLLERR | POLLHUP) == 0 { poll(&descriptor, 1, -1) }
        recorder.events.removeAll()
        try connection.session.openChannel(1)
        let error = #expect(throws: AMQPError.self) { try connection.flush(recorder, now: .now()) }
        return (error, recorder.events)
    }

    @Test("a write that fails is reported with the reason that the broker gave before", arguments: [false, true])
    func reason(isEncrypted: Bool) throws {
        let certificates = isEncrypted ? try ThrowawayCertificates() : nil
        // An answer that nobody read yet comes first.
        let words = Wire.method(0, 10, 60) { $0.short("low on memory") } + Self.close
        let (error, events) = try write(after: words, certificates: certificates)
        #expect(error?.code == .connectionClosed && error?.replyCode == 320, "\(error as Any)")
        #expect(error?.message.contains("CONNECTION_FORCED - the node is shut down") == true)
        #expect(
            events == [
                .blocked("low on memory"),
                .connectionClosed(code: 320, text: "CONNECTION_FORCED - the node is shut down"),
            ])
    }

    @Test("without a reason the failure to write is the error", arguments: [false, true])
    func noReason(isEncrypted: Bool) throws {
        let certificates = isEncrypted ? try ThrowawayCertificates() : nil
        let (error, events) = try write(after: Wire.frame(8, 0, []), certificates: certificates)
        #expect(error?.code == .connectionLost && error?.message.contains("writing to a socket") == true)
        #expect(events.isEmpty)
    }
}
