/// The contents of a provider's certificate, as asked for.
package struct ProviderCertificateRequest: Equatable, Sendable {
    /// The topics; the first is the subject's, and several are listed in an extension.
    package var topics: [String]
    /// The environments; both where empty.
    package var environments: Set<ServiceEnvironment>
    /// How many days it is good for.
    package var days: Int
    /// When its validity starts, in seconds from now; negative for the past.
    package var startsIn: Int

    /// The largest number of days a certificate can be good for.
    package static let dayLimit = 3650

    /// Describes a certificate.
    ///
    /// - Parameters:
    ///   - topics: The topics, the main one first.
    ///   - environments: The environments; both where empty.
    ///   - days: How many days it is good for.
    ///   - startsIn: When its validity starts, in seconds from now.
    package init(
        topics: [String], environments: Set<ServiceEnvironment> = [], days: Int = 365, startsIn: Int = 0
    ) {
        self.topics = topics
        self.environments = environments
        self.days = days
        self.startsIn = startsIn
    }
}
