/// What the connections of a port are for.
enum GatewayRole: String, Sendable {
    /// Pushes to devices, and to broadcast channels unless those have a port of their own.
    case pushes
    /// Management of broadcast channels.
    case broadcastChannels = "channels"
    /// Publishing to broadcast channels and nothing else.
    case broadcasts
}
