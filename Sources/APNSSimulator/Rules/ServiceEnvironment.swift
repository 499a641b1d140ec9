/// Which of Apple's two services the simulator plays.
package enum ServiceEnvironment: String, Sendable, CaseIterable {
    /// Sandbox: answers carry `apns-unique-id`.
    case development
    /// Production.
    case production
}
