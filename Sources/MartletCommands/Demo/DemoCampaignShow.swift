import APNSSimulator
import BrokerClient
import EventLoop
import Glibc
import LocalStack
import PushWorker
import RabbitMQ
import Rig
import Text

/// Publishes the demo's campaign, pauses it, cancels a part of it and resumes the rest. Urgent jobs pass it meanwhile.
/// Blocks all the time.
struct DemoCampaignShow {
    /// How long the show waits for the workers to read a command before it goes on.
    static let pause = Duration.milliseconds(300)
    /// How long the urgent jobs may take before the show goes on without them. It is shorter than the campaign's pause.
    static let patience = Duration.seconds(8)

    private typealias Plan = DemoCampaignPlan

    private let plan: DemoCampaignPlan
    private let local: LocalRun
    private let audit: RunAudit
    private let isStopped: StopSign
    private let tell: @Sendable (String) -> Void

    /// Prepares a show.
    ///
    /// - Parameters:
    ///   - plan: The campaign.
    ///   - local: The broker and the simulator.
    ///   - audit: Learns of every job that the broker confirmed.
    ///   - isStopped: Ends the show early.
    ///   - tell: Says what the operator does.
    init(
        _ plan: DemoCampaignPlan, _ local: LocalRun, _ audit: RunAudit, until isStopped: StopSign,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.plan = plan
        self.local = local
        self.audit = audit
        self.isStopped = isStopped
        self.tell = tell
    }

    /// Gives the show.
    ///
    /// - Parameter producer: Publishes the show's jobs.
    /// - Throws: `AMQPError` where the broker fails.
    func run(_ producer: inout RunProducer) throws {
        let operators = try local.connect("demo operator")
        defer { operators.close() }
        try publish((0..<plan.count / 2).map { plan.job($0, id: JobIdentifier.new()) }, &producer)
        try ask(.pause, operators)
        tell("An operator pauses \(Plan.prefix), half of which is published.")
        sleep(Self.pause)
        try publish((plan.count / 2..<plan.count).map { plan.job($0, id: JobIdentifier.new()) }, &producer)
        try publish((0..<plan.highCount).map { plan.highJob($0, id: JobIdentifier.new()) }, &producer)
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        // The simulator's ledger does not tell this thread when it changes.
        while !isStopped.isRaised, pushed(plan.highTokens) < plan.highCount, ContinuousClock.now < deadline {
            sleep(.milliseconds(100))
        }
        let waiting = plan.count - pushed(plan.tokens)
        tell(
            "\(TimeText.count(waiting)) of its \(TimeText.count(plan.count)) jobs wait; "
                + "\(pushed(plan.highTokens)) jobs of class high passed them.")
        sleep(Self.pause)
        try ask(.cancelPart, operators)
        try ask(.resume, operators)
        tell("An operator cancels \(Plan.cancelledPrefix) and resumes the rest.")
    }

    private func publish(_ jobs: [RunProducer.Job], _ producer: inout RunProducer) throws {
        for job in jobs {
            if isStopped.isRaised { break }
            audit.paces(job.id)
            try producer.publish(job, enqueuedAt: JobIdentifier.now(), audit: audit)
        }
        try producer.finish(audit: audit)
    }

    /// Publishes a step's command to all workers.
    private func ask(_ step: DemoCampaignPlan.Step, _ operators: AMQPBlockingClient) throws {
        guard !isStopped.isRaised else { return }
        var message = OutgoingMessage()
        Plan.command(step, id: JobIdentifier.new(), at: JobIdentifier.now()).write(to: &message)
        guard try operators.publishConfirmed(message) == .confirmed else {
            throw CommandFailure(.internalFault, "the demo's broker does not take what an operator asks for")
        }
    }

    /// How many of these device tokens APNs has accepted a push for.
    private func pushed(_ tokens: Set<String>) -> Int {
        Set(local.simulator.ledger.records().lazy.filter { $0.status == 200 }.map(\.token)).intersection(tokens).count
    }

    private func sleep(_ duration: Duration) {
        guard !isStopped.isRaised else { return }
        usleep(UInt32(duration.wholeMilliseconds) * 1_000)
    }
}
