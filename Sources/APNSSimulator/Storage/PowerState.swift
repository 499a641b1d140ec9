/// A device's power state, which decides when notifications arrive.
package enum PowerState: String, Codable, Sendable, CaseIterable {
    /// Everything arrives at once.
    case normal
    /// Priority 10 arrives at once, priority 5 in groups. Priority 1 waits until the device is normal again.
    case low
}
