/// How often something was answered.
package struct LedgerCount: Equatable, Sendable {
    /// The status answered; 0 where there was no answer.
    package var status: Int
    /// The reason, or what happened instead of an answer; empty for 200.
    package var label: String
    /// How often.
    package var count: Int
}
