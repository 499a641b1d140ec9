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
