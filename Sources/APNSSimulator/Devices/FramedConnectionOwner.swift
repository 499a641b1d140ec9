/// Hears what happens on a connection between a device and the simulator; called on the loop's thread.
protocol FramedConnectionOwner: AnyObject {
    /// The handshake is done.
    ///
    /// - Parameter connection: The connection.
    func opened(_ connection: FramedConnection)

    /// A frame has come.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - connection: The connection.
    func received(_ frame: DeviceFrame, on connection: FramedConnection)

    /// The connection is over; called once.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - reason: Why, for a person.
    ///   - isRefused: Whether the peer refused this side's certificate or something else about TLS.
    func closed(_ connection: FramedConnection, reason: String, isRefused: Bool)
}
