import ArgumentParser
import EventLoop
import PushModel
import RabbitMQ
import Rig
import Text

extension DeadCommand {
    /// `martlet dead replay`: publishes letters again as jobs.
    struct Replay: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Publish dead letters again, as the jobs that they were.",
            discussion: """
                A letter leaves its queue once the broker has confirmed its job. Ended half way, nothing is lost: run \
                the command again with the same --name, and letters whose jobs were published and not yet removed are \
                published once more, with results of the same message ids.

                Jobs count their attempts anew. Of a multicast job only the indexes of the letter are pushed. Letters \
                of dead device tokens stay, and so do letters of jobs that a worker would refuse again, and those \
                whose routing key is lost or not certain.

                It ends after \(QueueReading.longest.components.seconds / 60) minutes with the exit status \
                \(CommandStatus.gaveUp.rawValue), because RabbitMQ takes back what a reader holds for 30 minutes \
                (consumer_timeout). Run it again with the same --name for the rest.

                The user apns-replayer may do this. Examples:
                  martlet dead replay --outcome exhausted --dry-run
                  martlet dead replay --outcome expired --campaign campaign-7/ \\
                      --deadline +2h --rate 500
                  martlet dead replay --id 0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90
                """)

        @OptionGroup var selection: Selection
        @Flag(help: "Replay all letters of the queue.") var all = false
        @Option(
            help: ArgumentHelp(
                "The replay's name, which jobs carry in \(HeaderName.replay); one and the same until it is finished.",
                discussion: "The default is a new one, which is printed first."))
        var name: String?
        @Option(help: "A new deadline for the jobs: a time, or +2h.", transform: MomentArgument.init)
        var deadline: MomentArgument?
        @Option(help: "Replay no more letters than this.") var limit: Int?
        @Option(help: "At most so many jobs a second, 0.01 or more.") var rate: Double?
        @Flag(
            help: """
                Replay also what a RabbitMQ before 4.0 ended: there a producer can lead a job to another app's topic, and \
                nothing tells.
                """)
        var trustProducers = false
        @Flag(help: "Only say what would happen.") var dryRun = false
        @OptionGroup(title: "Broker") var broker: BrokerOptions

        var namedBroker: String? { broker.broker }

        func validate() throws {
            try selection.requireChoice(all: all)
            if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
            // Letters that wait for the rate are held unacknowledged, and RabbitMQ limits how long that may be.
            if let rate, !(rate >= 0.01) { throw ValidationError("--rate must be 0.01 or more.") }
            if let name, name.isEmpty || name.utf8.count > 64 { throw ValidationError("--name has 1 to 64 bytes.") }
        }

        func run() throws {
            let name = name ?? JobIdentifier.new()
            let link = try CommandConnection.open(broker.target, heartbeat: rate == nil)
            // Closing the link gives back the letters that are not acknowledged.
            defer { link.close() }
            var replay = DeadReplayRun(link: link, pacer: rate.map(Pacer.init))
            // Said before the first job: without the name nobody can go on after a crash.
            if !dryRun { Console.talk("replaying as \(name)") }
            let goOn = dryRun ? "the newest letters were not looked at" : "go on with --name \(name)"
            let reading: QueueReading
            do throws(CommandFailure) {
                reading = try publish(as: name, &replay, over: link)
            } catch {
                replay.abandon()
                guard !dryRun, replay.published > 0 else { throw error }
                throw error.advising("\(TimeText.count(replay.done)) letters were replayed by then; \(goOn)")
            }
            let verb = dryRun ? "would be replayed" : "replayed as \(name)"
            Console.talk(
                "\(TimeText.count(replay.done)) of \(TimeText.count(reading.seen)) dead letters in \(selection.name) "
                    + verb)
            for line in replay.remarks { Console.talk(line) }
            try reading.finish(goOn)
            if replay.refused > 0 { throw CommandStatus.someFailed }
        }

        /// Publishes the jobs of all wanted letters, and waits until the broker has removed these letters.
        private func publish(
            as name: String, _ replay: inout DeadReplayRun, over link: CommandConnection
        ) throws(CommandFailure) -> QueueReading {
            let now = JobIdentifier.now()
            let reading = try DeadCommand.read(selection, link) { letter throws(CommandFailure) in
                guard replay.published < limit ?? .max else { return }
                let job = Result { () throws(ReplayedJob.Obstacle) in
                    try ReplayedJob(
                        letter, name: name, deadline: deadline?.milliseconds(now: now),
                        includesDeadTokens: selection.outcome.contains(Outcome.deadToken.rawValue),
                        includesUntrusted: selection.filter.reason.contains(Reason.untrustedSource.rawValue),
                        trustsProducers: trustProducers, now: now)
                }
                switch job {
                case .success(let job) where !dryRun: try replay.publish(job, of: letter)
                case .success: replay.note(wouldPublish: letter)
                case .failure(let obstacle): replay.skip(obstacle)
                }
            }
            try replay.finish()
            return reading
        }
    }
}
