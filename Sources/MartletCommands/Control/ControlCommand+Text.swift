import PushWorker
import Text

extension ControlCommand {
    /// The command in one line for people, such as `route shop: paused by anna@ops1 at … until …: they are slow`.
    var sentence: String { "\(object): \(account)" }

    /// The deed, its author, the time, the end and the reason, in words; without the object.
    var account: String {
        var text = "\(deed) by \(author) at \(DateTime.write(issuedAt))"
        if let until { text += " until \(DateTime.write(until))" }
        return reason.map { "\(text): \($0)" } ?? text
    }

    /// The colours of the words that say what commands do.
    static let deeds: [String: Ink] = [
        "paused": .yellow, "resumed": .green, "held": .yellow, "trusted": .green, "cancelled": .red,
    ]

    /// The route or campaign of the command, such as `route shop`.
    var object: String {
        switch target {
        case .route(let name): "route \(name)"
        case .campaign(let prefix): "campaign \(prefix)"
        }
    }

    /// What the command does to its object, such as `paused`.
    var deed: String {
        switch action {
        case .pause: "paused"
        case .resume: "resumed"
        case .rate: perSecond.map { "held to \(Self.written($0)) for the whole fleet" } ?? "no longer held to a rate"
        case .trust: "trusted"
        case .cancel: leavesDeadLetters ? "cancelled with dead letters" : "cancelled"
        }
    }

    /// The command line that takes the command back; nil where no command line does.
    var undoing: String? {
        switch (action, target) {
        case (.pause, .route(let name)): "martlet route resume \(Self.quoted(name))"
        case (.rate, .route(let name)) where perSecond != nil: "martlet route rate \(Self.quoted(name)) off"
        case (.pause, .campaign(let prefix)), (.cancel, .campaign(let prefix)):
            "martlet campaign resume \(Self.quoted(prefix))"
        default: nil
        }
    }

    private static func quoted(_ text: String) -> String { ShellText.quoted(text) }

    /// A rate as people write it on the command line.
    private static func written(_ rate: Double) -> String {
        rate == rate.rounded() ? "\(Int(rate))/s" : "\(rate)/s"
    }
}
