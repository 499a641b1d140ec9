/// The meaning of a worker's answer about its health, in words.
struct HealthVerdict: Equatable {
    /// The most reasons that are named; the others are counted.
    static let namedReasons = 3

    /// Whether the worker lives, or is ready.
    var isGood: Bool
    /// The verdict in one line.
    var words: String

    /// Judges an answer.
    ///
    /// - Parameters:
    ///   - answer: The admin server's answer.
    ///   - isAboutReadiness: Whether `/readyz` was asked, and not `/livez`.
    init(_ answer: AdminAnswer, isAboutReadiness: Bool) {
        isGood = answer.status == 200
        switch answer.status {
        case 200: words = isAboutReadiness ? "ready" : "alive"
        case 503 where isAboutReadiness: words = "is not ready\(Self.reasons(answer.body))"
        case 503:
            let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
            words = "is stuck: \(Self.list(lines.map { String($0) }))"
        default: words = "answers with status \(answer.status), which no worker does"
        }
    }

    /// The reasons that `/readyz` names. It names none where the asker may not know them.
    private static func reasons(_ body: [UInt8]) -> String {
        let reasons = (try? JSON(reading: body))?["reasons"]?.elements.compactMap(\.text) ?? []
        return reasons.isEmpty ? "; its log says why" : ": \(list(reasons))"
    }

    private static func list(_ lines: [String]) -> String {
        let more = lines.count - namedReasons
        return lines.prefix(namedReasons).joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }
}
