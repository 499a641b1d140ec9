@testable import HTTP2

/// A client session whose server is played by hand-made bytes.
final class RawServer {
    let events = ClientRecorder()
    let client: HTTP2ClientSession

    /// Makes the session and lets the server announce its settings.
    init(settings: [(UInt8, UInt32)] = []) throws {
        client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        try client.receive(Raw.settings(settings).span)
    }

    /// Submits requests with tags from 0 and writes them.
    func submit(_ count: Int, body: [UInt8] = []) throws {
        for tag in 0..<count {
            _ = try client.submit(.push(), body: body, range: 0..<body.count, tag: tag)
        }
        try drain()
    }

    /// Takes all the client has to say.
    @discardableResult
    func drain() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try client.send(into: &bytes, upTo: 1 << 20)
        return bytes
    }

    func receive(_ bytes: [UInt8]) throws {
        try client.receive(bytes.span)
    }
}
