import EventLoop

/// What goes wrong in a world, and when, as its seed has it.
final class Chaos {
    private enum Fault: CaseIterable {
        case kill, cut, deafen, brokerRestart, apnsRefuses, roll
    }

    private unowned let world: World
    private var next: MonotonicTime
    private(set) var kills = 0
    private(set) var cuts = 0

    init(_ world: World) {
        self.world = world
        next = world.now + .seconds(world.draw(1...5))
    }

    /// Lets go wrong what is due.
    func goOn() throws {
        guard world.now >= next else { return }
        next = world.now + .milliseconds(world.draw(200...8_000))
        switch Fault.allCases[world.draw(0...(Fault.allCases.count - 1))] {
        case .kill: kill()
        case .cut: pick()?.cut()
        case .deafen: deafen()
        case .brokerRestart: restartBroker()
        case .apnsRefuses: refuseConnects()
        case .roll: roll()
        }
    }

    /// Nothing goes wrong any more. What was broken is mended.
    func stop() throws {
        world.isBrokerDown = false
        world.apns.refusesConnects = false
        for worker in world.workers where !worker.isAlive { try worker.start() }
    }

    private func pick() -> Cable? {
        let cables = world.workers.flatMap(\.cables)
        guard !cables.isEmpty else { return nil }
        cuts += 1
        return cables[world.draw(0...(cables.count - 1))]
    }

    private func kill() {
        let worker = world.workers[world.draw(0...(world.workers.count - 1))]
        worker.kill()
        kills += 1
        restart(worker)
    }

    private func restart(_ worker: ModelWorker) {
        world.at(world.now + .milliseconds(world.draw(0...3_000))) {
            if !worker.isAlive { try? worker.start() }
        }
    }

    /// A worker drains, and is started again.
    private func roll() {
        let worker = world.workers[world.draw(0...(world.workers.count - 1))]
        worker.stop(within: .seconds(10))
        world.at(world.now + .seconds(12)) { if !worker.isAlive { try? worker.start() } }
    }

    private func deafen() {
        guard let cable = pick() else { return }
        cable.isDeaf = true
        world.at(world.now + .seconds(world.draw(1...20))) { cable.cut() }
    }

    private func restartBroker() {
        world.isBrokerDown = true
        world.broker.restart()
        world.peersSpoke = true
        world.at(world.now + .milliseconds(world.draw(100...5_000))) { [unowned world] in world.isBrokerDown = false }
    }

    private func refuseConnects() {
        world.apns.refusesConnects = true
        world.at(world.now + .milliseconds(world.draw(100...10_000))) { [unowned world] in
            world.apns.refusesConnects = false
        }
    }
}
