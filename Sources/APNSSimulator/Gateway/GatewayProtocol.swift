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

    /// Checks whether the time or the service asks for an action. Called when the clock was set or the service changed.
    func attend()
}

extension GatewayProtocol {
    /// Does nothing: not every protocol depends on the time or the service.
    func attend() {}
}
