/// A device as the admin API shows it.
struct DeviceView: Encodable {
    /// A token of the device.
    struct Token: Encodable {
        /// The topic.
        var topic: String
        /// `development` or `production`.
        var environment: String
        /// Whether it takes pushes.
        var isActive: Bool
        /// Seconds since 1970 at which it was issued.
        var issuedAt: Int64
        /// Hexadecimal digits; nil for a dead one.
        var token: String?
    }

    /// Its name towards the simulator.
    var id: String
    /// What its owner calls it.
    var name: String
    /// Whether it is connected.
    var isOnline: Bool
    /// `normal` or `low`.
    var power: String
    /// Milliseconds since 1970 at which it was activated.
    var activatedAt: Int64
    /// How many notifications wait for it.
    var waiting: Int
    /// Its tokens.
    var tokens: [Token]
    /// The apps whose notifications are switched off.
    var silenced: [String]
    /// The broadcast channels it listens to.
    var channels: [String]
}
