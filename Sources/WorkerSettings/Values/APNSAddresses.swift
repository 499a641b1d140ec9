package import PushModel

/// An address for each environment; nil without one.
package struct APNSAddresses: Sendable, Equatable {
    /// The address of production, `https://host:port`.
    package var production: String?
    /// The address of development (Apple's sandbox), `https://host:port`.
    package var development: String?

    /// The address for an environment.
    package func address(of environment: APNSEnvironment) -> String? {
        switch environment {
        case .production: production
        case .development: development
        }
    }
}
