/// The campaigns that operators have paused, cancelled, or resumed for a time, in the form in which the lane looks them up. Pure: time comes in.
///
/// A job belongs to a campaign if its `reference` begins with the campaign's prefix. Of several prefixes in force, the
/// longest one decides. A look allocates nothing.
package struct CampaignIndex: Sendable, Equatable {
    /// The fate of a notification because of its campaign.
    package enum Fate: Sendable, Equatable {
        /// It is pushed as any other.
        case goesOn
        /// It waits, at most until this time in milliseconds since 1970; nil where no end is known.
        case paused(until: Int64?)
        /// It waits for a moment: it looks cancelled, but not all commands are read yet.
        case undecided
        /// It is not pushed any more.
        ///
        /// - `leavesDeadLetters`: Whether it leaves a dead letter.
        /// - `detail`: Who cancelled it and why, for its result.
        case cancelled(leavesDeadLetters: Bool, detail: String)
    }

    private struct Entry: Equatable {
        let prefix: [UInt8]
        /// When the command ends, in milliseconds since 1970; the largest number for never.
        let end: Int64
        let fate: Fate
        /// The position of the longest other prefix with which this one begins; negative without one.
        var parent = -1
    }

    /// The campaigns, in the order of the bytes of their prefixes.
    private var entries: [Entry] = []

    /// Knows of no campaign.
    package init() {}

    /// Takes commands that pause, cancel or resume campaigns. Other commands are left out.
    ///
    /// - Parameters:
    ///   - commands: At most one about each campaign.
    ///   - cancels: Whether cancelled campaigns are cancelled; otherwise they are undecided.
    init(_ commands: some Sequence<ControlCommand>, cancels: Bool = true) {
        entries = commands.compactMap { Self.entry($0, cancels: cancels) }
        entries.sort { $0.prefix.lexicographicallyPrecedes($1.prefix) }
        for position in entries.indices.dropFirst() {
            var parent = position - 1
            while parent >= 0, !entries[position].prefix.starts(with: entries[parent].prefix) {
                parent = entries[parent].parent
            }
            entries[position].parent = parent
        }
    }

    private static func entry(_ command: ControlCommand, cancels: Bool) -> Entry? {
        guard case .campaign(let prefix) = command.target else { return nil }
        let fate: Fate
        switch command.action {
        case .pause: fate = .paused(until: command.until)
        case .cancel where !cancels: fate = .undecided
        case .cancel:
            let reason = command.reason.map { ": \($0)" } ?? ""
            fate = .cancelled(
                leavesDeadLetters: command.leavesDeadLetters,
                detail: "\(command.author) cancelled the campaign \(prefix)\(reason)")
        case .resume: fate = .goesOn
        case .rate, .trust: return nil
        }
        return Entry(prefix: Array(prefix.utf8), end: command.until ?? .max, fate: fate)
    }

    /// Whether there is no command about a campaign, so that no job needs to be looked up.
    package var isEmpty: Bool { entries.isEmpty }

    /// The fate of a job's notifications.
    ///
    /// - Parameters:
    ///   - reference: The job's reference.
    ///   - now: The time in milliseconds since 1970.
    package func fate(of reference: Span<UInt8>, at now: Int64) -> Fate {
        // Every entry that is a prefix of the reference is also a prefix of the last entry that is not behind the
        // reference.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isOrdered(reference, before: entries[middle].prefix) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        var position = low - 1
        while position >= 0 {
            if entries[position].end > now, Self.begins(reference, with: entries[position].prefix) {
                return entries[position].fate
            }
            position = entries[position].parent
        }
        return .goesOn
    }

    private static func begins(_ text: Span<UInt8>, with prefix: [UInt8]) -> Bool {
        guard prefix.count <= text.count else { return false }
        for position in 0..<prefix.count where text[position] != prefix[position] { return false }
        return true
    }

    private static func isOrdered(_ one: Span<UInt8>, before other: [UInt8]) -> Bool {
        for position in 0..<min(one.count, other.count) where one[position] != other[position] {
            return one[position] < other[position]
        }
        return one.count < other.count
    }
}
