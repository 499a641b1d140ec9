/// Which APNs a device token belongs to.
package enum APNSEnvironment: String, Sendable, Hashable, CaseIterable {
    /// Apps from the App Store, TestFlight and ad-hoc distribution.
    case production
    /// Apps run from Xcode (Apple's sandbox).
    case development
}
