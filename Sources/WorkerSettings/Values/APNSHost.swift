/// One of the hosts that a worker's configuration sends requests to.
package struct APNSHost: Sendable, Equatable {
    /// The key of the configuration that says where it is.
    package var setting: String
    /// `https://host:port`.
    package var address: String
    /// Whether nobody named it, because Apple's place for it is known.
    package var isAssumed = false

    /// A host that the configuration names.
    package init(setting: String, address: String) {
        self.setting = setting
        self.address = address
    }
}
