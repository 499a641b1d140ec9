import Foundation
import Glibc

/// An HTTP server for one request at a time, which keeps what was sent to it and always answers alike.
final class SmallHTTPServer {
    struct Failure: Error {
        var message: String
    }

    let port: Int
    private let listener: Int32
    private let status: Int

    init(status: Int) throws {
        self.status = status
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        guard isListening else { throw Failure(message: "no port to listen at") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }

    /// Waits for a request, answers it and gives its head and its body.
    func next() throws -> (head: String, body: String) {
        try wait(for: listener)
        let client = accept(listener, nil, nil)
        guard client >= 0 else { throw Failure(message: "nobody came") }
        defer { close(client) }
        var received: [UInt8] = []
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                let length = line.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
                let body = text[end.upperBound...]
                if body.utf8.count >= length {
                    let answer = Array("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
                    _ = answer.withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
                    return (head, String(body))
                }
            }
            try wait(for: client)
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(client, &buffer, buffer.count)
            guard count > 0 else { throw Failure(message: "the request ended early") }
            received += buffer[..<count]
        }
    }

    /// Waits until somebody comes, and leaves them without an answer.
    func waitForConnection() throws { try wait(for: listener) }

    private func wait(for descriptor: Int32) throws {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 20_000) == 1 else { throw Failure(message: "nothing came") }
    }
}
