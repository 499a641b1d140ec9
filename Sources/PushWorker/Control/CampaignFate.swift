/// The fate of a notification because of its campaign.
package enum CampaignFate: Sendable, Equatable {
    /// It is pushed as any other.
    case goesOn
    /// It waits, at most until this time, in milliseconds since 1970; nil where no end is known.
    case paused(until: Int64?)
    /// It is not pushed any more.
    ///
    /// - `leavesDeadLetters`: Whether it leaves a dead letter.
    /// - `detail`: Who cancelled it and why, for its result.
    case cancelled(leavesDeadLetters: Bool, detail: String)
}
