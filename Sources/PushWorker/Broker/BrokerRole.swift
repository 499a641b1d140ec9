/// What one connection to the broker is used for. A lane has two, because a blocked publisher must not stop deliveries and
/// acknowledgements.
enum BrokerRole: String, Sendable {
    case consume, publish
}
