import ArgumentParser
import Rig
import Text
import WorkerSettings

/// Which dead letters are wanted, by what they are about.
struct LetterFilter: ParsableArguments {
    @Option(help: "Only this reason, for example BadTopic; may be repeated.") var reason: [String] = []
    @Option(help: "Only this topic; may be repeated.") var topic: [String] = []
    @Option(
        help: "Only letters whose jobs came for this route, by the configuration's topics; may be repeated.")
    var route: [String] = []
    @Option(help: "Only the job with this id; may be repeated.") var id: [String] = []
    @Option(help: "Only jobs whose reference begins like this, for example campaign-7/.") var campaign: String?
    @Option(help: "Only letters that are older, for example 14d.") var olderThan: TimeSpan?
    @Option(help: "Only letters that are younger, for example 2h.") var newerThan: TimeSpan?
    @OptionGroup var source: ConfigurationOptions

    func validate() throws {
        // The file is read for its topics only. Nobody must believe that its broker is asked.
        if source.config != nil, route.isEmpty {
            throw ValidationError("--config belongs to --route: it tells topics. --broker tells the broker.")
        }
    }

    /// Whether every letter is wanted.
    var isEverything: Bool {
        reason.isEmpty && topic.isEmpty && route.isEmpty && id.isEmpty && campaign == nil && olderThan == nil
            && newerThan == nil
    }

    /// The wanted routes, as the configuration has them; nil where all routes are wanted.
    ///
    /// - Throws: What is wrong with the configuration, or `usage` for a route that it does not have.
    func routes() throws(CommandFailure) -> LetterRoutes? {
        if route.isEmpty { return nil }
        return try LetterRoutes(route, of: try source.load(for: .broker, connects: false).topologyRoutes)
    }

    /// Whether a letter is wanted.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - routes: What ``routes()`` gave.
    ///   - now: Milliseconds since 1970. A letter without a time has no age: neither limit of age admits it.
    func admits(_ letter: DeadLetter, of routes: LetterRoutes?, now: Int64) -> Bool {
        let age = letter.diedAt.map { now -| $0 }
        return (topic.isEmpty || topic.contains(letter.topic))
            && (routes.map { $0.take(jobsOf: letter.jobRoutingKey) } ?? true)
            && (reason.isEmpty || reason.contains(where: letter.has(reason:)))
            && (id.isEmpty || id.contains(letter.message.messageID))
            && (campaign.map { letter.reference?.hasPrefix($0) ?? false } ?? true)
            && (olderThan.map { span in age.map { $0 > span.duration.wholeMilliseconds } ?? false } ?? true)
            && (newerThan.map { span in age.map { $0 < span.duration.wholeMilliseconds } ?? false } ?? true)
    }
}
