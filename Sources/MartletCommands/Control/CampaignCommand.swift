import ArgumentParser
import PushWorker
import Rig
import Topology

/// `martlet campaign`: asks all workers to pause, resume or cancel the jobs whose `reference` has the same beginning.
struct CampaignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign",
        abstract: "Pause, resume or cancel jobs by the beginning of their reference, in all workers at once.",
        discussion: """
            A campaign is every job whose reference begins with the prefix. A slash at its end matters: campaign-7/ does \
            not match campaign-70/. Nobody can know whether a prefix is the beginning of any reference: check its \
            spelling.

            The command goes into the stream \(TopologyNames.controlQueue), which every worker reads, those that start \
            later, too. Of two commands about one prefix the later one stands; of several prefixes that a reference \
            begins with, the longest one decides. A command without --for or --until stands until it is taken back. \
            The broker may drop it after 30 days. A resume with --for or --until only interrupts what it takes back.

            The user apns-operator may do this. martlet control lists what stands.

            Examples:
              martlet campaign pause campaign-7/ --for 2h --reason "wrong price"
              martlet campaign resume campaign-7/
              martlet campaign cancel campaign-7/de/ --dead-letters
            """,
        subcommands: [Pause.self, Resume.self, Cancel.self])

    /// `martlet campaign pause`.
    struct Pause: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Let a campaign's jobs wait, in every worker.",
            discussion: """
                Its jobs wait in holding tiers, and other jobs of the route pass them. Their deadlines go on: a job whose \
                deadline passes meanwhile is expired.
                """)

        @Argument(help: "How the references of its jobs begin, for example campaign-7/.") var prefix: String
        @OptionGroup var end: ControlEnd
        @Flag(help: "Do not ask before a prefix of less than four bytes.") var yes = false
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            try CampaignCommand.publish(.pause, prefix, end, options, isCertain: yes)
        }
    }

    /// `martlet campaign resume`.
    struct Resume: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "End the pause or the cancellation of a campaign, or interrupt it.",
            discussion: """
                What was cancelled before stays so. The prefix is the one that was paused or cancelled. With --for or \
                --until the jobs go on until then only: after that the pause or the cancellation stands again. Jobs of \
                a paused campaign wait in holding tiers, so those go on that come back meanwhile.
                """)

        @Argument(help: "The prefix that was paused or cancelled.") var prefix: String
        @OptionGroup var end: ControlEnd
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            // No question for a short prefix: a resume concerns no more jobs than the command that it takes back.
            try CampaignCommand.publish(.resume, prefix, end, options, isCertain: true)
        }
    }

    /// `martlet campaign cancel`.
    struct Cancel: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Push none of a campaign's jobs any more; their results say cancelled.",
            discussion: "A job counts as cancelled when a worker takes it from its queue while this stands.")

        @Argument(help: "How the references of its jobs begin, for example campaign-7/.") var prefix: String
        @Flag(help: "Keep each cancelled job as a dead letter, which martlet dead replay can publish again.")
        var deadLetters = false
        @OptionGroup var end: ControlEnd
        @Flag(help: "Do not ask before a prefix of less than four bytes.") var yes = false
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            try CampaignCommand.publish(.cancel, prefix, end, options, isCertain: yes, leavesDeadLetters: deadLetters)
        }
    }

    private static func publish(
        _ action: ControlCommand.Action, _ prefix: String, _ end: ControlEnd, _ options: ControlOptions,
        isCertain: Bool, leavesDeadLetters: Bool = false
    ) throws {
        let request = ControlRequest(
            action: action, target: .campaign(prefix), author: options.signature, reason: options.reason,
            until: end.milliseconds(now: JobIdentifier.now()), leavesDeadLetters: leavesDeadLetters)
        try ControlPublishing(options: options).run(request, isCertain: isCertain)
    }
}
