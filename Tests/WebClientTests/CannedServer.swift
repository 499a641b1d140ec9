import EventLoop
import Foundation
import Glibc

/// A server on this machine that takes one connection, and answers its first request with given bytes.
final class CannedServer: Sendable {
    /// What it does after its answer.
    enum End: Sendable {
        /// It closes the connection.
        case closes
        /// It says nothing until the client closes the connection.
        case waits
        /// It says the same again and again, until the client closes the connection.
        case repeats(String)
    }

    /// The port on 127.0.0.1.
    let port: Int
    private let asked: AsyncStream<Void>
    private let left: AsyncStream<Void>

    /// Starts it, on a thread of its own.
    ///
    /// - Parameters:
    ///   - answer: What it says once it has the request's head.
    ///   - end: What it does then.
    /// - Throws: `EventLoopError` where the system has no socket left.
    init(_ answer: String, then end: End = .closes) throws {
        let listener = try Listener(address: .loopback(port: 0))
        port = listener.address.port
        let (asked, noteAsked) = AsyncStream<Void>.makeStream()
        let (left, noteLeft) = AsyncStream<Void>.makeStream()
        (self.asked, self.left) = (asked, left)
        // Passed on to the thread, which alone uses it from here on.
        let descriptor = dup(listener.fileDescriptor)
        Thread.detachNewThread {
            defer { close(descriptor) }
            Self.serve(descriptor, answer, end) { noteAsked.finish() }
            noteLeft.finish()
        }
    }

    /// Waits until it has a request, and has answered it.
    func isAsked() async { for await _ in asked {} }

    /// Waits until the client has closed the connection.
    func isLeft() async { for await _ in left {} }

    private static func serve(_ listener: Int32, _ answer: String, _ end: End, noteAsked: () -> Void) {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 30_000) == 1 else { return }
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            var byte: UInt8 = 0
            guard read(socket, &byte, 1) == 1 else { return }
            head.append(byte)
        }
        send(answer, on: socket)
        noteAsked()
        switch end {
        case .closes: break
        case .waits:
            var byte: UInt8 = 0
            while read(socket, &byte, 1) > 0 {}
        case .repeats(let text): while send(text, on: socket) {}
        }
    }

    /// Sends a text. Returns whether the client took it.
    @discardableResult
    private static func send(_ text: String, on socket: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
