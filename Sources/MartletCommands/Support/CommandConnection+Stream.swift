import Rig

/// Reading streams, which keep what was read.
extension CommandConnection {
    /// How long the first message of a stream may take, and how long the next one.
    private static let patience = (first: Duration.seconds(2), next: Duration.milliseconds(400))

    /// Takes the messages of the stream that is consumed, up to a pause that means its end, or Ctrl-C.
    /// - Parameter take: What to do with each message.
    func readStream(_ take: (BrokerMessage) -> Void) throws(CommandFailure) {
        var patience = Self.patience.first
        while !Interrupt.isRequested, try takeFromStream(within: patience, take) { patience = Self.patience.next }
    }

    /// Takes the next message of the stream that is consumed.
    /// - Parameters:
    ///   - time: How long to wait for it.
    ///   - take: What to do with it.
    /// - Returns: False where none came in time.
    func takeFromStream(within time: Duration, _ take: (BrokerMessage) -> Void) throws(CommandFailure) -> Bool {
        guard let message = try next(timeout: time) else { return false }
        take(message)
        // A stream keeps what was read; this only asks for more.
        try acknowledge(message, upToHere: true)
        return true
    }
}
