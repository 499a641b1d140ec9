import FoundationEssentials
import PushModel

/// A request of an operator to all workers: to hold, pace, trust or cancel something. It lasts until it is taken back,
/// or its time is over.
///
/// A command is JSON, one message of the stream `apns.q.control`. The order of the stream decides: the later command
/// about a target counts, even if the clocks of the operators differ. Unknown members are ignored, so that later
/// versions can say more.
package struct ControlCommand: Sendable, Equatable {
    /// The kind of a request.
    package enum Action: String, Sendable, CaseIterable, Codable {
        /// Jobs of the target wait.
        case pause
        /// A pause or a cancellation of the target ends, or rests until the end of this command.
        case resume
        /// All workers together send at most this many notifications of a route per second.
        case rate
        /// Results of a route say `drop_token` again, although many of its tokens are dead.
        case trust
        /// Jobs of a campaign that are still to be pushed are not pushed any more.
        case cancel

        /// Whether the action is possible for a target.
        package func applies(to target: Target) -> Bool {
            switch (self, target) {
            case (.pause, _), (.resume, _), (.rate, .route), (.trust, .route), (.cancel, .campaign): true
            case (.rate, .campaign), (.trust, .campaign), (.cancel, .route): false
            }
        }
    }

    /// The target of a command.
    package enum Target: Sendable, Hashable {
        /// A route, by its configured name.
        case route(String)
        /// All jobs whose `reference` begins with this text.
        case campaign(String)
    }

    /// The property `type` of a message with a command, and its member `type`.
    package static let messageType = "martlet.control"
    /// The version of the form of a command. A command of another version is not read.
    package static let formVersion = 1
    /// The longest command that is read, in bytes.
    package static let maximumLength = 4_096
    /// The longest id, name, reference, author and reason, in bytes.
    package static let longestText = 512
    /// The highest rate, in notifications a second.
    package static let highestRate = 1_000_000.0
    /// The lowest rate, in notifications a second: one notification in 1,000 s.
    package static let leastRate = 0.001

    /// Distinguishes the command from others; a UUID where `martlet` made it.
    package var id: String
    /// The kind of the request.
    package var action: Action
    /// The target of the command.
    package var target: Target
    /// Who asks, such as `anna@ops1`.
    package var author: String
    /// When it was asked, in milliseconds since 1970.
    package var issuedAt: Int64
    /// When it ends by itself, in milliseconds since 1970; nil for never.
    package var until: Int64?
    /// Why, in the operator's words; nil without a reason.
    package var reason: String?
    /// Notifications a second, for `rate`; nil ends an earlier rate.
    package var perSecond: Double?
    /// Whether the jobs that `cancel` ends leave dead letters, from which they can be replayed.
    package var leavesDeadLetters: Bool

    /// Makes a command from its parts.
    package init(
        id: String, action: Action, target: Target, author: String, issuedAt: Int64, until: Int64? = nil,
        reason: String? = nil, perSecond: Double? = nil, leavesDeadLetters: Bool = false
    ) {
        self.id = id
        self.action = action
        self.target = target
        self.author = author
        self.issuedAt = issuedAt
        self.until = until
        self.reason = reason
        self.perSecond = perSecond
        self.leavesDeadLetters = leavesDeadLetters
    }

    /// Reads a command; nil for anything else, and for one that asks for something impossible.
    package init?(parsing body: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard body.count <= Self.maximumLength, let form = try? decoder.decode(Form.self, from: Data(body)),
            form.type == Self.messageType, form.version == Self.formVersion,
            let target = form.target, form.action.applies(to: target)
        else { return nil }
        self.init(
            id: form.id, action: form.action, target: target, author: form.author,
            issuedAt: form.issuedAt.milliseconds, until: form.until?.milliseconds, reason: form.reason,
            perSecond: form.perSecond, leavesDeadLetters: form.deadLetters ?? false)
        guard isPossible else { return nil }
    }

    /// Whether its texts are neither missing nor too long, and its numbers are in their ranges.
    private var isPossible: Bool {
        let name =
            switch target {
            case .route(let name), .campaign(let name): name
            }
        let texts = [id, author, name]
        return texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= Self.longestText }
            && reason.map { $0.utf8.count <= Self.longestText } ?? true
            && perSecond.map { (Self.leastRate...Self.highestRate).contains($0) } ?? true
            && (action == .rate || perSecond == nil) && (action == .cancel || !leavesDeadLetters)
    }

    /// The command as JSON.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(Form(self))).map(Array.init) ?? []
    }

    /// A time of the JSON object: written in milliseconds, and read in every way in which a time may be written.
    private struct Time: Codable {
        var milliseconds: Int64

        init(milliseconds: Int64) { self.milliseconds = milliseconds }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let time =
                if let number = try? container.decode(Int64.self) {
                    WrittenTime(number)
                } else {
                    WrittenTime(try container.decode(String.self).utf8.span)
                }
            guard let time else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a plausible time")
            }
            milliseconds = time.milliseconds
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(milliseconds)
        }
    }

    /// The members of the JSON object.
    private struct Form: Codable {
        var type = messageType
        var version = formVersion
        var id: String
        var action: Action
        var route: String?
        var campaign: String?
        var author: String
        var issuedAt: Time
        var until: Time?
        var reason: String?
        var perSecond: Double?
        var deadLetters: Bool?

        init(_ command: ControlCommand) {
            id = command.id
            action = command.action
            author = command.author
            issuedAt = Time(milliseconds: command.issuedAt)
            until = command.until.map(Time.init)
            reason = command.reason
            perSecond = command.perSecond
            deadLetters = command.leavesDeadLetters ? true : nil
            switch command.target {
            case .route(let name): route = name
            case .campaign(let prefix): campaign = prefix
            }
        }

        /// The target; nil if the object names none or two.
        var target: Target? {
            switch (route, campaign) {
            case (let name?, nil): .route(name)
            case (nil, let prefix?): .campaign(prefix)
            default: nil
            }
        }
    }
}
