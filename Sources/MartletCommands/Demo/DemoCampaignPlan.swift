import PushModel
import PushWorker
import Rig
import Text

/// The demo's campaign, and the commands that an operator gives all workers about it: pure.
struct DemoCampaignPlan: Sendable {
    /// The operator's commands, in this order.
    enum Step: CaseIterable {
        /// The campaign waits.
        case pause
        /// A part of it is not pushed any more.
        case cancelPart
        /// The rest goes on.
        case resume
    }

    /// How the references of its jobs begin.
    static let prefix = "campaign-7/"
    /// How the references of the part that is cancelled begin.
    static let cancelledPrefix = "\(prefix)de/"
    /// The pause ends by itself after this time. It is shorter than the second retry tier's delay of 15 s. So jobs wait
    /// in the first tier, of 2 s, and go on about 2 s after they may.
    static let longestPause = Duration.seconds(14)

    private static let parts = ["de", "fr", "en"]

    /// How many jobs the campaign has.
    let count: Int
    /// How many urgent jobs are published during the pause.
    let highCount: Int

    /// Plans a campaign.
    ///
    /// - Parameter jobs: How many jobs the demo publishes in all. A fiftieth of them are the campaign's: from 6 to 300.
    init(among jobs: Int) {
        count = min(max(jobs / 50, 6), 300)
        highCount = min(max(jobs / 500, 2), 30)
    }

    /// How many of the campaign's jobs are in the part that is cancelled.
    var cancelledCount: Int { (0..<count).count { reference($0).hasPrefix(Self.cancelledPrefix) } }

    /// The reference of a job of the campaign.
    ///
    /// - Parameter number: Which job, counted from 0.
    func reference(_ number: Int) -> String { "\(Self.prefix)\(Self.parts[number % Self.parts.count])/\(number)" }

    /// A job of the campaign.
    ///
    /// - Parameters:
    ///   - number: Which job, counted from 0.
    ///   - id: The job's id.
    func job(_ number: Int, id: String) -> RunProducer.Job {
        Self.job(
            id, Self.token("1c7", number), .normal, "Half price today", [(.reference, "\"\(reference(number))\"")])
    }

    /// An urgent job that has nothing to do with the campaign.
    ///
    /// - Parameters:
    ///   - number: Which job, counted from 0.
    ///   - id: The job's id.
    func highJob(_ number: Int, id: String) -> RunProducer.Job {
        Self.job(id, Self.token("1c8", number), .high, "Your code is \(1_000 + number)", [])
    }

    /// The device tokens of the campaign's jobs.
    var tokens: Set<String> { Set((0..<count).map { Self.token("1c7", $0) }) }
    /// The device tokens of the urgent jobs.
    var highTokens: Set<String> { Set((0..<highCount).map { Self.token("1c8", $0) }) }

    /// The operator's command of a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - id: The command's id.
    ///   - now: Milliseconds since 1970.
    static func command(_ step: Step, id: String, at now: Int64) -> ControlCommand {
        let (action, prefix): (ControlCommand.Action, String) =
            switch step {
            case .pause: (.pause, Self.prefix)
            case .cancelPart: (.cancel, cancelledPrefix)
            case .resume: (.resume, Self.prefix)
            }
        return ControlCommand(
            id: id, action: action, target: .campaign(prefix), author: "demo", issuedAt: now,
            until: step == .pause ? now +| longestPause.wholeMilliseconds : nil, reason: "a demo")
    }

    private static func job(
        _ id: String, _ token: String, _ jobClass: JobClass, _ body: String, _ fields: [(JobField, String)]
    ) -> RunProducer.Job {
        let app = DemoJobMix.apps[0]
        let payload = #"{"aps":{"alert":{"title":"\#(app.route)","body":"\#(body)"},"sound":"default"}}"#
        return RunProducer.Job(
            id: id, topic: app.topic, jobClass: jobClass,
            body: EnvelopedBody.text(id: id, tokens: [token], fields: fields, payload: payload))
    }

    /// A device token of the usual length.
    private static func token(_ prefix: String, _ number: Int) -> String {
        let digits = String(number, radix: 16)
        return prefix + String(repeating: "0", count: 64 - prefix.count - digits.count) + digits
    }
}
