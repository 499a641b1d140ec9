import PushWorker
import Text
import Topology
import WorkerSettings

/// What an operator asks for, before it becomes a command. A pure value, so that a table can test each refusal.
struct ControlRequest: Equatable {
    /// How far away an end may be: 30 days, because the stream keeps a command that long.
    static let longest = Duration.seconds(30 * 86_400)
    /// A prefix of fewer bytes than this needs a question first: it may match more jobs than are meant.
    static let shortPrefix = 4

    /// What the workers are to do.
    var action: ControlCommand.Action
    /// The route or the campaign.
    var target: ControlCommand.Target
    /// Who asks.
    var author: String
    /// Why.
    var reason: String?
    /// When the command ends by itself, in milliseconds since 1970; nil for never.
    var until: Int64?
    /// Notifications a second for `rate`; nil ends an earlier rate.
    var perSecond: Double?
    /// Whether the jobs that `cancel` ends leave dead letters.
    var leavesDeadLetters = false

    /// The command for this request.
    ///
    /// - Parameters:
    ///   - id: The command's id.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `usage` where a text is empty or too long, no route can have the name, or the end is not within the
    ///   next 30 days.
    func command(id: String, at now: Int64) throws(CommandFailure) -> ControlCommand {
        switch target {
        case .route(let name):
            try Self.check(name, "the route's name")
            guard TopologyNames.isRouteName(name) else {
                throw CommandFailure(
                    .usage, "\"\(name.printable)\" is not the name of a route: \(TopologyNames.routeNameRule)")
            }
        case .campaign(let prefix): try Self.check(prefix, "the beginning of references")
        }
        try Self.check(author, "--author")
        if let reason { try Self.check(reason, "--reason") }
        if let until, until <= now { throw CommandFailure(.usage, "the end is not in the future") }
        if let until, until > now +| Self.longest.wholeMilliseconds {
            throw CommandFailure(
                .usage, "the end is more than 30 days away, and the broker keeps a command for 30 days",
                remedy: "Ask again before they are over.")
        }
        let command = ControlCommand(
            id: id, action: action, target: target, author: author, issuedAt: now, until: until, reason: reason,
            perSecond: perSecond, leavesDeadLetters: leavesDeadLetters)
        guard ControlCommand(parsing: command.json) == command else {
            throw CommandFailure(.usage, "no worker would read this command: its texts are too long together")
        }
        return command
    }

    /// What to ask before a command about a short prefix is published; nil for longer prefixes and for routes.
    var question: String? {
        guard case .campaign(let prefix) = target, prefix.utf8.count < Self.shortPrefix else { return nil }
        return "Every job whose reference begins with \"\(prefix.printable)\" is meant. Go on?"
    }

    /// A warning that the prefix matches more than it seems; nil where it ends with a slash, and for routes.
    var hint: String? {
        guard case .campaign(let prefix) = target, !prefix.hasSuffix("/") else { return nil }
        return "\(prefix) matches \(prefix)0, too; with a slash at the end it would not."
    }

    /// Makes sure that a route is configured.
    ///
    /// - Parameter routes: The names of all routes.
    /// - Throws: `usage`, with the nearest name.
    func check(against routes: [String]) throws(CommandFailure) {
        guard case .route(let name) = target, !routes.contains(name) else { return }
        throw CommandFailure(
            .usage,
            "the configuration has no route \"\(name.printable)\"."
                + Suggestion.sentence(for: name, among: routes))
    }

    private static func check(_ text: String, _ name: String) throws(CommandFailure) {
        guard !text.isEmpty else { throw CommandFailure(.usage, "\(name) is empty") }
        guard text.utf8.count <= ControlCommand.longestText else {
            throw CommandFailure(.usage, "\(name) is longer than \(ControlCommand.longestText) bytes")
        }
    }
}
