/// What a job wants when its notification was sent and never answered.
package enum OnUnknown: String, Hashable, Sendable, CaseIterable {
    /// Send it again, at the risk of a duplicate.
    case retry
    /// Report it as `unknown`.
    case report

    /// The wish that these bytes name; nil for other bytes.
    package init?(utf8 bytes: Span<UInt8>) {
        if bytes.matches("retry" as StaticString) {
            self = .retry
        } else if bytes.matches("report" as StaticString) {
            self = .report
        } else {
            return nil
        }
    }
}
