import EventLoop
import Text
import Topology
import WorkerSettings

@testable import PushWorker

/// What goes wrong in a world, and when, as its seed has it.
final class Chaos {
    private enum Fault: CaseIterable {
        case kill, cut, deafen, brokerRestart, apnsRefuses, roll, pause, alarm, lateConfirms, goAway
        case pauseCampaign, cancelCampaign, unbind, fill, losesLeader, missingQueue, missingExchange, wrongCalendar
        case reload, newKey, share
    }

    private unowned let world: World
    private let skipping: Set<Int>
    private var random: SplitMix64
    private var next: MonotonicTime
    /// How many faults there were, with those that were left out.
    private(set) var count = 0
    private(set) var kills = 0
    /// How often the key was renewed.
    private var keys = 0
    /// What mends things that are broken.
    private var mends: [() -> Void] = []

    /// Nothing is wrong yet.
    ///
    /// - Parameters:
    ///   - world: The world.
    ///   - seed: Decides what goes wrong.
    ///   - skipping: The faults that are left out, by their numbers.
    init(_ world: World, seed: UInt64, skipping: Set<Int>) {
        self.world = world
        self.skipping = skipping
        random = SplitMix64(seed: seed ^ 0x6368_616f_73)
        next = world.now
        next = world.now + .seconds(draw(1...5))
    }

    private func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Lets go wrong what is due.
    func goOn() {
        guard world.now >= next else { return }
        next = world.now + .milliseconds(draw(200...8_000))
        // All is drawn, also for a fault that is left out, so that the later ones stay as they are.
        let (kind, some, long) = (draw(0...(Fault.allCases.count - 1)), draw(0...1_000), draw(100...10_000))
        defer { count += 1 }
        guard !skipping.contains(count) else { return }
        carryOut(Fault.allCases[kind], some, .milliseconds(long))
    }

    private func carryOut(_ fault: Fault, _ some: Int, _ long: Duration) {
        let worker = world.workers[some % world.workers.count]
        switch fault {
        case .kill: kill(worker, after: long * 0.3)
        case .cut:
            cable(some)?.cut()
            world.tell("a connection is cut")
        case .deafen: deafen(some, for: long * 2)
        case .brokerRestart: restartBroker(long * 0.5)
        case .apnsRefuses: refuseConnects(for: long)
        case .roll: roll(worker)
        case .pause: hold(.route(["shop", "bank"][some % 2]), .pause, for: long)
        case .pauseCampaign: hold(.campaign("campaign-\(some % 4)"), .pause, for: long)
        case .cancelCampaign: hold(.campaign("campaign-\(some % 4)"), .cancel, for: long)
        case .alarm: raiseAlarm(for: long)
        case .lateConfirms: delayConfirms(for: long)
        case .goAway:
            world.tell("APNs sends all connections away")
            world.apns.sendAway()
        // A job that is led nowhere is the producer's to notice.
        case .unbind: unbind(Self.queues[some % (Self.queues.count - 1)], for: long)
        case .fill: fill(Self.queues[some % Self.queues.count], for: long)
        case .losesLeader: loseLeader(Self.queues[some % Self.queues.count], for: long)
        case .missingQueue: removeQueue(Self.removable[some % Self.removable.count], for: long)
        case .missingExchange: removeExchange(Self.exchanges[some % Self.exchanges.count], for: long)
        case .wrongCalendar:
            world.tell("the workers' calendars are \(some * 4 - 2_000) ms ahead")
            world.time.setCalendars(ahead: Int64(some * 4 - 2_000))
        case .reload: reload(some, for: long)
        case .newKey: renewKey()
        case .share: share(some, worker, for: long)
        }
    }

    /// Queues that something happens to: for results, dead letters and copies, then one for jobs.
    private static let queues = [
        TopologyNames.resultsQueue(0), TopologyNames.deadTokensQueue, TopologyNames.deadQueue,
        TopologyNames.retryQueue(tier: "2s"), TopologyNames.retryQueue(tier: TopologyNames.holdingTier(delay: "1m")),
        TopologyNames.jobQueue(route: "shop"),
    ]

    /// Queues that may be missing, for as long as they hold nothing.
    private static let removable = queues.dropLast() + [TopologyNames.returnQueue(route: "shop")]

    /// Exchanges that may be missing. A publication to one costs the channel.
    private static let exchanges = [
        TopologyNames.results, TopologyNames.dead, TopologyNames.replies, TopologyNames.retryExchange(tier: "2s"),
    ]

    /// Nothing goes wrong any more, and what was broken is mended.
    func stop() throws {
        world.tell("chaos stops")
        world.isBrokerDown = false
        world.apns.refusesConnects = false
        world.broker.setAlarm(nil)
        world.confirm()
        world.operators.resumeAll()
        // Twice: a binding may belong to an exchange that was missing.
        for mend in mends + mends { mend() }
        mends.removeAll()
        world.time.setCalendars(ahead: 0)
        for worker in world.workers where !worker.isAlive { try worker.start() }
    }

    private func cable(_ some: Int) -> Cable? {
        let cables = world.workers.flatMap(\.cables)
        return cables.isEmpty ? nil : cables[some % cables.count]
    }

    private func kill(_ worker: ModelWorker, after pause: Duration) {
        worker.kill()
        kills += 1
        world.at(world.now + pause) { if !worker.isAlive { try? worker.start() } }
    }

    /// A worker drains, and is started again.
    private func roll(_ worker: ModelWorker) {
        worker.stop(within: .seconds(10))
        world.at(world.now + .seconds(13)) { if !worker.isAlive { try? worker.start() } }
    }

    private func deafen(_ some: Int, for time: Duration) {
        guard let cable = cable(some) else { return }
        world.tell("a connection swallows everything for \(time)")
        cable.isDeaf = true
        world.at(world.now + time) { cable.cut() }
    }

    private func restartBroker(_ time: Duration) {
        world.tell("the broker restarts, and is away for \(time)")
        world.isBrokerDown = true
        world.broker.restart()
        world.at(world.now + time) { [unowned world] in world.isBrokerDown = false }
    }

    private func refuseConnects(for time: Duration) {
        world.tell("APNs refuses connects for \(time)")
        world.apns.refusesConnects = true
        world.at(world.now + time) { [unowned world] in world.apns.refusesConnects = false }
    }

    private func hold(_ target: ControlCommand.Target, _ action: ControlCommand.Action, for time: Duration) {
        world.operators.hold(target, action)
        world.at(world.now + time) { [unowned world] in world.operators.resume(target) }
    }

    // MARK: Queues

    /// Nothing leads to a queue for a time.
    private func unbind(_ name: String, for time: Duration) {
        guard let queue = world.broker.queues[name] else { return }
        world.tell("nothing leads to \(name) for \(time)")
        let bindings = bindings(to: queue.name)
        for (exchange, binding) in bindings { world.broker.exchanges[exchange]?.unbind(binding) }
        mend(after: time) { [unowned world] in
            for (exchange, binding) in bindings { world.broker.exchanges[exchange]?.bind(binding) }
        }
    }

    private func removeExchange(_ name: String, for time: Duration) {
        guard let exchange = world.broker.exchanges.removeValue(forKey: name) else { return }
        world.tell("\(name) does not exist for \(time)")
        mend(after: time) { [unowned world] in
            if world.broker.exchanges[name] == nil { world.broker.exchanges[name] = exchange }
        }
    }

    /// An empty queue is deleted, and declared again.
    private func removeQueue(_ name: String, for time: Duration) {
        guard let queue = world.broker.queues[name], queue.count == 0, queue.leaderlessUntil == nil else { return }
        world.tell("\(name) does not exist for \(time)")
        let bindings = bindings(to: name)
        world.broker.deleteQueue(name)
        mend(after: time) { [unowned world] in
            world.broker.declareQueue(name, .quorum, arguments: queue.arguments)
            for (exchange, binding) in bindings { world.broker.exchanges[exchange]?.bind(binding) }
        }
    }

    private func bindings(to queue: String) -> [(exchange: String, binding: ModelExchange.Binding)] {
        world.broker.exchanges.keys.sorted().flatMap { exchange in
            (world.broker.exchanges[exchange]?.bindings ?? []).filter { $0.destination == .queue(queue) }
                .map { (exchange, $0) }
        }
    }

    /// A queue refuses everything for a time.
    private func fill(_ name: String, for time: Duration) {
        guard let queue = world.broker.queues[name], queue.settings.maxLength != 0 else { return }
        world.tell("\(name) is full for \(time)")
        let (length, refuses) = (queue.settings.maxLength, queue.settings.rejectsPublish)
        (queue.settings.maxLength, queue.settings.rejectsPublish) = (0, true)
        mend(after: time) { (queue.settings.maxLength, queue.settings.rejectsPublish) = (length, refuses) }
    }

    private func loseLeader(_ name: String, for time: Duration) {
        guard let queue = world.broker.queues[name], queue.leaderlessUntil == nil else { return }
        world.tell("\(name) has no leader for \(time)")
        queue.loseLeader(until: world.now + time) { _ in false }
    }

    /// Mends something later, but no later than chaos stops.
    private func mend(after time: Duration, _ mend: @escaping () -> Void) {
        mends.append(mend)
        world.at(world.now + time, mend)
    }

    // MARK: Configuration

    /// The configuration has other routes for a time. Each worker reads it when it comes to that.
    private func reload(_ some: Int, for time: Duration) {
        let usual = world.blueprint.configuration.routes
        var routes = usual
        switch some % 4 {
        case 0: routes[0].rate = 20
        case 1: routes[1].connections = .fixed(1)
        case 2: routes.removeLast()
        default: for index in routes.indices { routes[index].connections = .fixed(2) }
        }
        world.tell("the configuration has other routes for \(time): \(some % 4)")
        configure(routes)
        mend(after: time) { [unowned self] in configure(usual) }
    }

    private func configure(_ routes: [RouteConfiguration]) {
        world.routes = routes
        for worker in world.workers { world.at(world.arrival(after: world.now)) { worker.reload() } }
    }

    /// The key is replaced by another one.
    private func renewKey() {
        keys += 1
        guard let credential = try? world.blueprint.credential(version: 1 + keys) else { return }
        world.tell("the key is renewed")
        for worker in world.workers where worker.isAlive { worker.post(.credentialChanged(credential)) }
    }

    /// A worker serves only one of its routes for a time.
    private func share(_ some: Int, _ worker: ModelWorker, for time: Duration) {
        world.tell("\(worker.name) serves one route for \(time)")
        worker.serve(ServedRoutes([some % 3]))
        mend(after: time) { worker.serve(.all) }
    }

    // MARK: The broker

    private func raiseAlarm(for time: Duration) {
        world.tell("the broker blocks publishers for \(time)")
        world.broker.setAlarm("low on memory")
        world.at(world.now + time) { [unowned world] in world.broker.setAlarm(nil) }
    }

    private func delayConfirms(for time: Duration) {
        world.tell("the broker confirms late for \(time)")
        world.confirm(within: 3_000)
        world.at(world.now + time) { [unowned world] in world.confirm() }
    }
}
