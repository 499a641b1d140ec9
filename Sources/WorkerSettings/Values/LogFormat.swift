/// How a log line looks.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text on a terminal, JSON elsewhere.
    case automatic = "auto"
    /// One JSON object per line.
    case json
    /// For people.
    case text
}
