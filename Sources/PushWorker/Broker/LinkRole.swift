/// The use of one connection to the broker. A lane has two connections, because a blocked publisher must not stop
/// deliveries and acknowledgements.
enum LinkRole: String, Sendable {
    case consume, publish
}
