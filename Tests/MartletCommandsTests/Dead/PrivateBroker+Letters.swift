import LocalStack
import Testing

@testable import MartletCommands

extension PrivateBroker {
    /// Publishes dead letters, and expects that the broker took them.
    func bury(_ letters: OutgoingJob...) throws {
        let link = try CommandConnection.open(BrokerSettings(uri: uri))
        defer { link.close() }
        var confirmed = 0
        // One by one: letters of one job have one id.
        for letter in letters {
            try link.publish(letter, exchange: "apns.dead", replyTo: nil) { confirmed += $0.kind == .confirmed ? 1 : 0 }
            try link.finishPublishing { confirmed += $0.kind == .confirmed ? 1 : 0 }
        }
        #expect(confirmed == letters.count)
    }
}
