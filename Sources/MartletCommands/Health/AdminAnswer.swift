/// What an admin server answered.
struct AdminAnswer: Equatable {
    /// The HTTP status.
    var status: Int
    /// The bytes after the head.
    var body: [UInt8]

    /// Makes an answer from its parts.
    init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    /// Reads the answer of a server that closes the connection after it.
    ///
    /// - Parameter bytes: Everything it sent.
    /// - Returns: Nil where the bytes are not HTTP/1, or end before the head does.
    init?(reading bytes: [UInt8]) {
        let head = bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) }
        guard let head else { return nil }
        let words = bytes[..<head].prefix { $0 != UInt8(ascii: "\r") }.split(separator: UInt8(ascii: " "))
        guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)), words[1].count == 3,
            let status = Int(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        self.init(status: status, body: Array(bytes[(head + 4)...]))
    }
}
