import HTTP2

/// A protocol above HTTP/2. Its session does the part that all such protocols have in common.
protocol HTTP2GatewayProtocol: GatewayProtocol {
    /// HTTP/2; nil only until it is set up.
    var session: HTTP2ServerSession? { get }
}

extension HTTP2GatewayProtocol {
    /// Takes bytes from the client; requests that become complete are handled at once.
    func receive(_ bytes: Span<UInt8>) throws(SimulatorError) {
        do {
            try session?.receive(bytes)
        } catch {
            throw SimulatorError(.protocol, "\(error)")
        }
    }

    /// Appends frames for the client.
    func send(into output: inout [UInt8], upTo limit: Int) throws(SimulatorError) {
        do {
            try session?.send(into: &output, upTo: limit)
        } catch {
            throw SimulatorError(.protocol, "\(error)")
        }
    }

    /// Whether there are frames to send.
    var wantsToSend: Bool { session?.wantsToSend ?? false }

    /// Whether neither side has anything more to say.
    var isFinished: Bool { session?.isFinished ?? true }
}
