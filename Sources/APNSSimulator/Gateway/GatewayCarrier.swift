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
    ///   - completion: Hears whether the push was taken. The answers that it prepares are sent afterwards.
    func take(_ arrival: Arrival, completion: @escaping (Bool) -> Void)

    /// Sends what waits and then nothing more. Closes when the client has ended the connection too, or after
    /// ``GatewayConnection/farewellTime``.
    func end()

    /// Closes the connection at once: what waits is not sent, and TLS is not ended.
    func close()

    /// Leaves the socket open but reads and writes nothing.
    ///
    /// - Parameter milliseconds: For how long. Nil: the connection is closed after ``GatewayConnection/frozenLimit``.
    func freeze(milliseconds: Int?)
}
