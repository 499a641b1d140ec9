import EventLoop
import PushModel
import Text

/// Ids of new jobs.
package enum JobIdentifier {
    /// A new id that sorts by time.
    package static func new() -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        UUIDBytes.v7(milliseconds: now(), random: (generator.next(), generator.next())).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Milliseconds since 1970.
    package static func now() -> Int64 { WallClock.milliseconds() }
}
