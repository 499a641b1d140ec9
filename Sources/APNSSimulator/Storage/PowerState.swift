/// What a device allows at present.
package enum PowerState: String, Codable, Sendable, CaseIterable {
    /// Everything arrives at once.
    case normal
    /// Priority 5 arrives in groups, priority 1 waits until the device is normal again.
    case low
}
