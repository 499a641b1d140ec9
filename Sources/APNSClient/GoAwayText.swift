import HTTP2
import PushModel

/// The text of a GOAWAY frame for people.
enum GoAwayText {
    /// The most bytes of debug data that are quoted.
    static let limit = 200

    /// The error code, and the reason if the debug data is JSON with a reason, as Apple documents. Otherwise the debug
    /// data as text.
    static func describe(_ goAway: HTTP2GoAway) -> String {
        guard !goAway.debugData.isEmpty else { return goAway.code.description }
        var data = goAway.debugData
        if let reason = ErrorBody(reading: &data).reason { return "\(goAway.code), \(reason.rawValue)" }
        let text = goAway.debugData.prefix(limit).map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }
        return "\(goAway.code), \(String(decoding: text, as: UTF8.self))"
    }
}
