/// One value of a list, and where it stands.
struct Setting<Value: Sendable>: Sendable {
    /// The value.
    let value: Value
    /// Its full name, such as `retry.tiers[1]`, for messages.
    let name: String
    /// Where it was written.
    let origin: ConfigurationOrigin

    /// A value with its name and place; without these, a default that nobody wrote.
    init(_ value: Value, name: String = "", origin: ConfigurationOrigin = .defaults) {
        self.value = value
        self.name = name
        self.origin = origin
    }
}
