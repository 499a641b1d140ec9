import APNSSimulator
import EventLoop
import Glibc
import LocalStack
import Rig
import Text

/// Pushes to the demo's devices. Meanwhile one device leaves and comes back, and another one loses an app. Blocks all
/// the time.
struct DemoDeviceShow {
    /// The time between two pushes, so that people see them arrive.
    static let pace = Duration.milliseconds(120)
    /// How long the show waits for a change before it goes on. The report then says what is missing.
    static let patience = Duration.seconds(30)

    private typealias Plan = DemoDevicePlan

    private let local: LocalRun
    private let devices: DemoDevices
    private let audit: RunAudit
    private let isStopped: StopSign
    private let tell: @Sendable (String) -> Void
    private let tokens: [[String: String]]
    private var arrivals = Plan.owners.map { _ in 0 }
    private var number = 0

    /// Prepares a show.
    ///
    /// - Parameters:
    ///   - local: The broker and the simulator.
    ///   - devices: The devices, which have their tokens.
    ///   - audit: Learns of every job that the broker confirmed.
    ///   - isStopped: Ends the show early.
    ///   - tell: Says what happens to the devices.
    init(
        _ local: LocalRun, _ devices: DemoDevices, _ audit: RunAudit, until isStopped: StopSign,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.local = local
        self.devices = devices
        self.audit = audit
        self.isStopped = isStopped
        self.tell = tell
        // Like a provider, the show goes on with the token that it was given, even when that is dead.
        tokens = devices.members.map(\.tokens)
    }

    /// Gives the show.
    ///
    /// - Parameter producer: Publishes the show's jobs.
    /// - Throws: `AMQPError` where the broker fails.
    mutating func run(_ producer: inout RunProducer) throws {
        try publish(.together, &producer)
        wait { show in show.hasArrived() }
        let first = DemoJobMix.apps[0].topic
        for (index, owner) in Plan.owners.enumerated() {
            switch owner.fate {
            case .stays: continue
            case .leaves:
                devices.leave(index)
                tell("\(owner.name)'s device leaves the network.")
            case .uninstalls:
                devices.tell(.uninstall(app: first), index)
                tell("\(owner.name) uninstalls \(first).")
            }
        }
        wait { show in
            show.devices.members.allSatisfy { member in
                switch member.owner.fate {
                case .stays: true
                case .leaves: !member.isOnline
                case .uninstalls: member.removed.contains(first)
                }
            }
        }
        try publish(.apart, &producer)
        wait { show in show.wasAnswered(.apart) }
        for (index, owner) in Plan.owners.enumerated() where owner.fate == .leaves {
            devices.tell(.online, index)
            tell("\(owner.name)'s device is back.")
        }
        wait { show in show.hasArrived() }
        try publish(.reunited, &producer)
        wait { show in show.hasArrived() }
    }

    private mutating func publish(_ round: Plan.Round, _ producer: inout RunProducer) throws {
        for push in Plan.pushes(in: round) {
            if isStopped.isRaised { return }
            number += 1
            let job = Plan.job(
                push, token: tokens[push.device][DemoJobMix.apps[push.app].topic] ?? "", number: number,
                id: JobIdentifier.new())
            audit.paces(job.id)
            try producer.publish(job, enqueuedAt: JobIdentifier.now(), audit: audit)
            try producer.finish(audit: audit)
            usleep(UInt32(Self.pace.wholeMilliseconds) * 1_000)
        }
        for index in arrivals.indices { arrivals[index] += Plan.arrivals(in: round, at: index) }
    }

    /// Waits until a condition holds, the show is stopped, or ``patience`` is over.
    private func wait(until holds: (Self) -> Bool) {
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        // Neither devices nor the simulator's ledger tell this thread when they change.
        while !isStopped.isRaised, !holds(self), ContinuousClock.now < deadline { usleep(50_000) }
    }

    /// Whether every device has all pushes that should have arrived so far.
    private func hasArrived() -> Bool {
        zip(devices.members, arrivals).allSatisfy { Set($0.arrivals).count >= $1 }
    }

    /// Whether APNs has answered a round's pushes to the devices that do not get them at once.
    private func wasAnswered(_ round: Plan.Round) -> Bool {
        var wanted: [String: Int] = [:]
        for push in Plan.pushes(in: round) where Plan.owners[push.device].fate != .stays {
            wanted[tokens[push.device][DemoJobMix.apps[push.app].topic] ?? "", default: 0] += 1
        }
        return wanted.allSatisfy { token, count in
            let since = devices.members.compactMap(\.absence?.left).min() ?? 0
            let records = local.simulator.ledger.records(token: token).filter { $0.time >= since }
            return Set(records.map(\.id)).count >= count
        }
    }
}
