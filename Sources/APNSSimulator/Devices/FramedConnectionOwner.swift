/// Is told what happens on a connection between a device and the simulator. Called on the loop's thread.
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
    ///   - isRefused: Whether the peer ended TLS with an alert, above all because it refused this side's certificate.
    func closed(_ connection: FramedConnection, reason: String, isRefused: Bool)
}
