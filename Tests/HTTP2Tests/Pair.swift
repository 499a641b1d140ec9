@testable import HTTP2

/// A client and a server session joined in memory.
final class Pair {
    let clientEvents = ClientRecorder()
    let serverEvents = ServerRecorder()
    let client: HTTP2ClientSession
    let server: HTTP2ServerSession
    /// How many bytes travel in one piece.
    var fragment = 1 << 16

    init(
        client clientSettings: HTTP2Settings = HTTP2Settings(), server serverSettings: HTTP2Settings = HTTP2Settings(),
        bodyLimit: Int = 1 << 20, headerListLimit: Int = 8000, fragment: Int = 1 << 16
    ) throws {
        client = try HTTP2ClientSession(settings: clientSettings, delegate: clientEvents)
        server = try HTTP2ServerSession(
            settings: serverSettings, bodyLimit: bodyLimit, headerListLimit: headerListLimit, delegate: serverEvents)
        self.fragment = fragment
    }

    /// Answers every request with its own body.
    func echo(status: Int = 200) {
        serverEvents.onRequest = { [unowned self] request in
            server.respond(
                streamID: request.streamID, status: status, headers: [("apns-id", "\(request.streamID)")],
                body: request.body)
        }
    }

    /// Moves what the client has to say, in fragments.
    func clientToServer() throws {
        var bytes: [UInt8] = []
        while client.wantsToSend {
            bytes.removeAll(keepingCapacity: true)
            try client.send(into: &bytes, upTo: fragment)
            if bytes.isEmpty { break }
            try server.receive(bytes.span)
        }
    }

    /// Moves what the server has to say, in fragments.
    func serverToClient() throws {
        var bytes: [UInt8] = []
        while server.wantsToSend {
            bytes.removeAll(keepingCapacity: true)
            try server.send(into: &bytes, upTo: fragment)
            if bytes.isEmpty { break }
            try client.receive(bytes.span)
        }
    }

    /// Moves bytes both ways until both sides are silent.
    func settle() throws {
        while client.wantsToSend || server.wantsToSend {
            try clientToServer()
            try serverToClient()
        }
    }

    /// Submits a usual request.
    @discardableResult
    func submit(tag: Int, body: [UInt8] = [], extra: [(String, String)] = []) throws -> Int32 {
        try client.submit(.push(extra: extra), body: body, range: 0..<body.count, tag: tag)
    }
}
