import EventLoop
import RabbitMQ

@testable import PushWorker

/// What operators ask of all workers. It reaches each worker in its own time.
final class Operators {
    /// A time in which the jobs of a target were held.
    struct Hold {
        let target: ControlCommand.Target
        let isCancelled: Bool
        /// Milliseconds since 1970.
        let from: Int64
        /// Milliseconds since 1970.
        var to: Int64
    }

    private unowned let world: World
    private(set) var state = ControlState()
    private(set) var holds: [Hold] = []
    private var commands = 0

    init(_ world: World) { self.world = world }

    /// Pauses a target, or cancels a campaign.
    func hold(_ target: ControlCommand.Target, _ action: ControlCommand.Action = .pause) {
        guard !holds.contains(where: { $0.target == target && $0.to == .max }) else { return }
        ask(action, target)
        holds.append(Hold(target: target, isCancelled: action == .cancel, from: world.time.truth, to: .max))
    }

    /// Lets a target go on.
    func resume(_ target: ControlCommand.Target) {
        guard let index = holds.lastIndex(where: { $0.target == target && $0.to == .max }) else { return }
        ask(.resume, target)
        holds[index].to = world.time.truth
    }

    /// Lets everything go on.
    func resumeAll() {
        for hold in holds where hold.to == .max { resume(hold.target) }
    }

    private func ask(_ action: ControlCommand.Action, _ target: ControlCommand.Target) {
        commands += 1
        world.tell("operators \(action.rawValue) \(target)")
        state.apply(
            ControlCommand(
                id: "\(commands)", action: action, target: target, author: "anna", issuedAt: world.time.wall),
            at: world.time.wall)
        for worker in world.workers {
            // A worker that hears of a command has read the earlier ones, because commands stand in a stream.
            world.at(world.arrival(after: world.now)) { [unowned self] in
                if worker.isAlive { worker.post(.control(state)) }
            }
        }
    }
}
