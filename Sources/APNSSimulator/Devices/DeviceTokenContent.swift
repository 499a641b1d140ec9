import TLS

/// What a device token of the simulator's own making says; nobody but the simulator can read or make one.
struct DeviceTokenContent: Equatable, Sendable {
    /// The device.
    var device: DeviceID
    /// The service it is for: a token of the other one is a bad token.
    var environment: ServiceEnvironment
    /// Which token of the device for the topic, counted from 1: a newer one ends the older.
    var generation: UInt32
    /// Seconds since 1970 at which it was issued.
    var issuedAt: Int64
    /// The topic it takes pushes for: the bundle identifier, with the suffix of its kind.
    var topic: String
}
