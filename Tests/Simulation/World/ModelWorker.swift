import APNSClient
import BrokerClient
import Logging
import RabbitMQ
import Text
import WorkerSettings

@testable import EventLoop
@testable import PushWorker

/// A worker in a world: a real lane, turned by the world. It may die at any moment, and be started again.
final class ModelWorker: @unchecked Sendable {
    /// How much longer than its time a worker may take to stop.
    private static let tolerance = Duration.seconds(2)

    let name: String
    private unowned let world: World
    private var lane: Lane?
    private var handle = LaneHandle()
    private var running: RunningRoutes?
    private(set) var cables: [Cable] = []
    /// Whether something has arrived since its last turn.
    private var isAwake = false
    private var due = MonotonicTime.distantFuture
    /// How often it was started.
    private(set) var lives = 0
    /// How often it was turned.
    private(set) var turns = 0
    /// When it must have stopped; nil before it was told to stop.
    private var stopsBy: MonotonicTime?

    init(_ name: String, in world: World) { (self.name, self.world) = (name, world) }

    var isAlive: Bool { lane != nil }
    /// When it is to be turned; never while it is dead.
    var nextTurn: MonotonicTime { lane == nil ? .distantFuture : isAwake ? world.now : due }

    /// Something arrived: the world turns it at once.
    func wake() { isAwake = true }

    // MARK: Life

    func start() throws {
        lives += 1
        let handle = LaneHandle()
        self.handle = handle
        var (settings, maker) = try world.blueprint.process(
            "\(name)-\(lives)", routes: world.routes, memory: world.memory)
        let logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        let running = RunningRoutes(
            world.routes, on: settings,
            surroundings: RunningRoutes.Surroundings(
                maker: maker, lane: handle, memory: settings.memory, share: { _ in }),
            logger: logger)
        self.running = running
        settings.awaitsControl = true
        settings.routeLeft = { running.left($0) }
        let lane = try Lane(settings: settings, handle: handle, logger: logger, in: surroundings)
        lane.begin()
        (self.lane, isAwake, stopsBy) = (lane, true, nil)
        world.tell("\(name) starts, life \(lives)")
        let life = lives
        after(8, in: life) { [unowned self] in post(.control(world.operators.state)) }
    }

    /// Tells it to drain and to end.
    func stop(within grace: Duration) {
        stopsBy = world.now + grace + Self.tolerance
        world.tell("\(name) is told to stop within \(grace)")
        post(.drain(deadline: world.now + grace))
    }

    /// Dies at once. What it has written still leaves its machine.
    func kill() {
        guard let lane else { return }
        world.tell("\(name) dies")
        unplug(lane)
    }

    /// Reads its configuration again.
    func reload() {
        guard isAlive else { return }
        running?.follow(world.routes)
        wake()
    }

    /// Serves these routes from now on.
    func serve(_ routes: ServedRoutes) {
        if isAlive { post(.served(routes)) }
    }

    /// Tells the lane something.
    func post(_ message: LaneMessage) {
        handle.post(message)
        wake()
    }

    func turn() throws(World.Finding) {
        guard let lane else { return }
        if let stopsBy, world.now > stopsBy {
            throw World.Finding(
                description: "\(name) was told to stop, and still works \(Self.tolerance) after its time")
        }
        isAwake = false
        turns += 1
        let goesOn = lane.turn()
        // It may have told itself something.
        if !lane.mailbox.isEmpty { isAwake = true }
        if goesOn {
            for cable in cables { cable.collectFromWorker() }
            if cables.contains(where: { !$0.isOpen }) { cables.removeAll { !$0.isOpen } }
            due = lane.nextTurn
        } else {
            lane.end()
            world.tell("\(name) has stopped")
            unplug(lane)
        }
    }

    /// Looks whether the worker refused to settle a notification a second time. Debug builds stop there.
    func judge() {
        let count = lane?.routes.reduce(0) { $0 + $1.tally.counters.settledTwice } ?? 0
        if count > 0 { world.found("\(name) settled \(count) notifications twice") }
    }

    private func unplug(_ lane: Lane) {
        judge()
        for cable in cables {
            cable.workerDied()
            // The loop keeps what it watches, and that keeps the lane.
            lane.loop.unwatch(cable.workersEnd)
        }
        cables.removeAll()
        self.lane = nil
        due = .distantFuture
    }

    // MARK: What it needs from its machine

    private var surroundings: LaneSurroundings {
        let life = lives
        var surroundings = LaneSurroundings(
            time: world.time, random: Randomness(SplitMix64(seed: world.draw())), outages: OutageDraw.Shared())
        surroundings.farewell = .zero
        // Nothing watches the lane, and its clocks stand still between its turns.
        surroundings.longestWait = .seconds(30)
        surroundings.findBrokers = { [unowned self] _, channels, found in
            after(1, in: life) { found(self.brokers(channels)) }
        }
        surroundings.connect = { [unowned self] _, request, connected in
            after(3, in: life) {
                do throws(APNSClientError) {
                    connected(.success(try self.world.apns.connect(self, request)))
                } catch {
                    connected(.failure(error))
                }
            }
        }
        return surroundings
    }

    /// Does something after so many ways through the network, if the worker still lives.
    private func after(_ ways: Int, in life: Int, _ act: @escaping () -> Void) {
        var time = world.now
        for _ in 0..<ways { time = world.arrival(after: time) }
        world.at(time) { [unowned self] in
            guard lane != nil, lives == life else { return }
            act()
            wake()
        }
    }

    private func brokers(_ channels: Int) -> Result<[BrokerTarget], AMQPError> {
        do throws(AMQPError) {
            var endpoint = AMQPEndpoint(host: "broker.test")
            endpoint.channelMax = max(endpoint.channelMax, channels)
            var targets = try BrokerTarget.find(endpoint) { _, port in [.loopback(port: port)] }
            for index in targets.indices {
                targets[index].dial = { [unowned self] address throws(EventLoopError) in
                    guard !world.isBrokerDown else {
                        throw EventLoopError(.connectFailed, "connecting to \(address)", errno: 111)
                    }
                    return try plug(into: world.broker.connect())
                }
            }
            return .success(targets)
        } catch {
            return .failure(error)
        }
    }

    /// Makes a connection to a peer.
    ///
    /// - Returns: The worker's end.
    func plug(into peer: any CablePeer) throws(EventLoopError) -> Socket {
        let (own, others) = try Socket.descriptorPair()
        cables.append(Cable(world, from: self, to: peer, ends: (own, others)))
        return Socket(takingOwnershipOf: own)
    }
}
