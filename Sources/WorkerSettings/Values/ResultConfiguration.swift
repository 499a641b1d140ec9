/// The `results` section.
package struct ResultConfiguration: Sendable, Equatable {
    /// How a result names the device.
    package enum DeviceToken: String, Sendable, CaseIterable {
        /// The whole token.
        case full
        /// Not at all.
        case omit
    }

    /// The most results that one message may have.
    package static let mostInBatch = 1_000

    /// The most results in one message, of routes that say nothing else; 1 for a message each.
    package var batch: Int
    /// How a result names the device.
    package var deviceToken: DeviceToken
    /// Over how many queues results are dealt out, those of one job into one; at least 1.
    package var queues: Int
}
