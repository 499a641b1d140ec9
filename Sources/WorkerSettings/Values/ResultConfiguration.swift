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

    /// The most results in one message, for routes without a number of their own; 1 for one result a message.
    package var batch: Int
    /// How a result names the device.
    package var deviceToken: DeviceToken
    /// Over how many queues results are spread; at least 1. All results of a job go to the same queue.
    package var queues: Int
}
