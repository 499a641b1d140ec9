internal import HTTP2

/// What a connection speaks above TLS: bytes in, bytes out, on the thread of its loop.
protocol GatewayProtocol: AnyObject {
    /// Takes bytes from the client.
    ///
    /// - Parameter bytes: What came out of TLS.
    /// - Throws: ``SimulatorError`` where the connection is dead.
    func receive(_ bytes: Span<UInt8>) throws(SimulatorError)

    /// Appends bytes for the client.
    ///
    /// - Parameters:
    ///   - output: Receives them.
    ///   - limit: About how many at most.
    /// - Throws: ``SimulatorError`` where the connection is dead.
    func send(into output: inout [UInt8], upTo limit: Int) throws(SimulatorError)

    /// Whether ``send(into:upTo:)`` has something to append.
    var wantsToSend: Bool { get }

    /// Whether neither side has anything more to say.
    var isFinished: Bool { get }

    /// Looks whether the time or the service asks for something, as the clock was put forward or the service changed.
    func attend()
}

extension GatewayProtocol {
    /// Most protocols do not care.
    func attend() {}
}

/// A protocol above HTTP/2, whose session does what is common to all.
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

/// What a protocol may ask of the connection that carries it.
protocol GatewayCarrier: AnyObject {
    /// Runs an action later and sends what it caused; nothing happens where the connection is closed by then.
    ///
    /// - Parameters:
    ///   - milliseconds: How much later.
    ///   - action: What to run.
    func later(milliseconds: Int, _ action: @escaping () -> Void)

    /// Takes a push to its device at the end of the loop's turn, with all others of that turn.
    ///
    /// - Parameters:
    ///   - arrival: The push.
    ///   - completion: Is told whether it was taken; what it answers is sent then.
    func take(_ arrival: Arrival, completion: @escaping (Bool) -> Void)

    /// Sends what waits and then nothing more, and closes when the client has ended the connection too.
    func end()

    /// Closes the connection without a word.
    func close()

    /// Leaves the socket open but reads and writes nothing.
    ///
    /// - Parameter milliseconds: For how long; nil for ever, which means until its client is long gone.
    func freeze(milliseconds: Int?)
}
