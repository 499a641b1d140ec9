import EventLoop
import RabbitMQ

@testable import PushWorker

/// What operators ask of all workers. It reaches each worker in its own time.
final class Operators {
    /// A time in which a route was paused, for all workers.
    struct Pause {
        let route: String
        let from: Int64
        var to: Int64
    }

    private unowned let world: World
    private(set) var state = ControlState()
    private(set) var pauses: [Pause] = []
    private var commands = 0

    init(_ world: World) { self.world = world }

    /// Pauses a route.
    func pause(_ route: String) {
        guard state.pause(ofRoute: route, at: world.time.wall) == nil else { return }
        ask(.pause, route)
        pauses.append(Pause(route: route, from: world.time.wall, to: .max))
    }

    /// Lets a route go on.
    func resume(_ route: String) {
        guard let index = pauses.lastIndex(where: { $0.route == route && $0.to == .max }) else { return }
        ask(.resume, route)
        pauses[index].to = world.time.wall
    }

    private func ask(_ action: ControlCommand.Action, _ route: String) {
        commands += 1
        world.tell("operators \(action.rawValue) \(route)")
        state.apply(
            ControlCommand(
                id: "\(commands)", action: action, target: .route(route), author: "anna", issuedAt: world.time.wall),
            at: world.time.wall)
        for worker in world.workers {
            let state = state
            world.at(world.arrival(after: world.now)) { if worker.isAlive { worker.post(.control(state)) } }
        }
    }
}
