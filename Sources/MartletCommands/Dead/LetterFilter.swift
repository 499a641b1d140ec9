import ArgumentParser
import Text

/// Which dead letters are wanted, by what they are about.
struct LetterFilter: ParsableArguments {
    @Option(help: "Only this reason, for example BadTopic; may be repeated.") var reason: [String] = []
    @Option(help: "Only this topic; may be repeated.") var topic: [String] = []
    @Option(help: "Only jobs whose id begins like this; may be repeated.") var id: [String] = []
    @Option(help: "Only jobs whose reference begins like this, for example campaign-7/.") var campaign: String?
    @Option(help: "Only letters that are older, for example 14d.") var olderThan: TimeSpan?
    @Option(help: "Only letters that are younger, for example 2h.") var newerThan: TimeSpan?

    /// Whether every letter is wanted.
    var isEverything: Bool {
        reason.isEmpty && topic.isEmpty && id.isEmpty && campaign == nil && olderThan == nil && newerThan == nil
    }

    /// Whether a letter is wanted.
    /// - Parameters:
    ///   - letter: The letter.
    ///   - now: Milliseconds since 1970. A letter that nobody dated has no age.
    func admits(_ letter: DeadLetter, now: Int64) -> Bool {
        let age = letter.diedAt.map { now - $0 }
        return (topic.isEmpty || topic.contains(letter.topic))
            && (reason.isEmpty || letter.reason.map(reason.contains) ?? false)
            && (id.isEmpty || id.contains { letter.matches(id: $0) })
            && (campaign.map { letter.reference?.hasPrefix($0) ?? false } ?? true)
            && (olderThan.map { span in age.map { $0 > span.duration.wholeMilliseconds } ?? false } ?? true)
            && (newerThan.map { span in age.map { $0 < span.duration.wholeMilliseconds } ?? false } ?? true)
    }
}
