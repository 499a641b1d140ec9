import Foundation
import Logging
import Testing

/// Keeps what is logged.
// The condition's lock guards the lines.
final class RecordedLog: LogHandler, @unchecked Sendable {
    private let condition = NSCondition()
    private var lines: [(message: String, all: String)] = []

    var logger: Logger { Logger(label: "test") { _ in self } }
    var messages: [String] { condition.withLock { lines.map(\.message) } }
    var everything: [String] { condition.withLock { lines.map(\.all) } }

    /// Waits until a message was logged, for half a minute at most.
    func wait(for message: String, _ location: SourceLocation = #_sourceLocation) {
        let deadline = Date(timeIntervalSinceNow: 30)
        condition.withLock {
            while !lines.contains(where: { $0.message == message }) {
                guard condition.wait(until: deadline) else {
                    Issue.record("not logged: \(message)", sourceLocation: location)
                    return
                }
            }
        }
    }

    func log(event: LogEvent) {
        let all = "\(event.level) \(event.message) \(event.metadata ?? [:])"
        condition.withLock {
            lines.append(("\(event.message)", all))
            condition.broadcast()
        }
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }
}
