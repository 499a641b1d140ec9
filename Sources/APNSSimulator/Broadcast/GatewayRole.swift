/// What the connections of a port are for.
enum GatewayRole: String, Sendable {
    /// Pushes to devices, and to channels unless those have a port of their own.
    case pushes
    /// Management of channels.
    case channels
    /// Publishing to channels and nothing else.
    case broadcasts
}
