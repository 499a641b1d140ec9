import TestSupport

@testable import RabbitMQ

/// A frame that the client sent.
struct SentFrame: Equatable {
    var type: UInt8
    var channel: UInt16
    var payload: [UInt8]

    /// Class and method number of a method frame.
    var method: UInt32? {
        type == 1 ? payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } : nil
    }
}
