/// The version of RabbitMQ, as the broker's greeting says it. Another broker's version means nothing.
package struct BrokerVersion: Sendable, Equatable {
    /// The first of its numbers.
    package let major: Int

    /// Reads a version such as `4.0.5`; nil if it begins with no number.
    ///
    /// - Parameter text: The version.
    package init?(_ text: some StringProtocol) {
        guard let major = Int(text.prefix { $0 != "." }) else { return nil }
        self.major = major
    }

    /// Whether nobody but the broker writes `x-death`. Before 4.0 an entry that a producer wrote stays, with all that it
    /// says, where the message dies in the same queue for the same reason (seen on 3.10.8).
    package var provesDeaths: Bool { major >= 4 }
}
