import EventLoop
import Foundation
import TLS
import TestSupport
import Testing

@Suite("TLS with openssl(1) as the peer", .timeLimit(.minutes(1)))
struct ForeignPeerTests {
    @Test(
        "speaks TLS 1.2 and 1.3 with a client that is not ours, and nothing older",
        arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3"), ("-tls1_1", nil)])
    func versions(flag: String, version: String?) throws {
        let certificates = try ThrowawayCertificates()
        let directory = try Scratch()
        try directory.write(certificates.authority.certificatePEM, "ca.pem")
        let listener = try Listener(address: .loopback(port: 0))
        let peer = try directory.start([
            "s_client", "-connect", listener.address.description, flag, "-alpn", "h2", "-CAfile", "ca.pem",
            "-verify_return_error", "-verify_hostname", "localhost", "-servername", "localhost", "-quiet",
            "-cipher", "DEFAULT:@SECLEVEL=0",
        ])
        defer {
            peer.process.terminate()
            peer.process.waitUntilExit()
        }
        let session = try TLSSession(server: certificates.serverContext())
        let driver = BlockingDriver(session, try Self.accepted(listener))
        guard let version else {
            let error = #expect(throws: TLSError.self) { try driver.shakeHands() }
            #expect(error?.code == .protocolVersion)
            return
        }
        try driver.shakeHands()
        #expect(session.protocolVersion == version)
        #expect(session.negotiatedProtocol == "h2")
        try peer.input.fileHandleForWriting.write(contentsOf: Data("from openssl\n".utf8))
        #expect(try driver.read() == Array("from openssl\n".utf8))
        try session.write(Array("from us\n".utf8).span)
        session.closeNotify()
        try driver.flush()
        let heard = String(decoding: peer.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(heard.contains("from us\n"))
    }

    private static func accepted(_ listener: borrowing Listener) throws -> Socket {
        while true {
            if let socket = try listener.accept() { return socket }
            var request = pollfd(fd: listener.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&request, 1, 30_000)
        }
    }
}

/// Drives a session over a socket, waiting where there is nothing to do.
private final class BlockingDriver {
    private let session: TLSSession
    private let socket: Socket
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    init(_ session: TLSSession, _ socket: consuming Socket) {
        self.session = session
        self.socket = socket
    }

    func shakeHands() throws {
        while try !session.handshake() {
            try flush()
            try receive()
        }
        try flush()
    }

    func read() throws -> [UInt8] {
        while true {
            if case .bytes(let count) = try session.read(into: &buffer) { return Array(buffer[..<count]) }
            try receive()
        }
    }

    func flush() throws {
        while session.pendingCiphertext > 0 {
            try session.withPendingCiphertext { (bytes: Span<UInt8>) throws(EventLoopError) -> Int in
                try socket.write(bytes)
            }
        }
    }

    private func receive() throws {
        _ = try socket.wait(for: .readable, timeout: .seconds(30))
        guard case .bytes(let count) = try socket.read(into: &buffer) else { return }
        let bytes = buffer
        session.receive(bytes.span.extracting(0..<count))
    }
}
