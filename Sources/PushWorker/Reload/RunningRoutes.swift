import Logging
import PushModel
import Synchronization
import Topology
import WorkerSettings

/// Lets the worker's routes follow the configuration while the worker runs. Safe on any thread.
final class RunningRoutes: Sendable {
    /// What it needs from its worker.
    struct Surroundings: Sendable {
        /// Makes the settings of a route for the lanes.
        let maker: RouteMaker
        /// The lanes, by their numbers.
        let lanes: [Int: LaneHandle]
        /// The memory for jobs. Each queue has a part of it.
        let memory: SharedMemoryBudget
        /// Decides which routes the worker serves. It gets the names of the routes that take jobs, by their numbers.
        let share: @Sendable ([String?]) -> Void
    }

    private struct State {
        var roster: RouteRoster
        /// What is known of dead tokens. A route that changes goes on with what it knew, as long as it is about the same
        /// device tokens.
        var deadTokens: [Audience: SharedDeadTokens] = [:]
    }

    /// The device tokens that a route pushes to. Those of another environment or of other topics die by themselves.
    private struct Audience: Hashable {
        let route: String
        let environment: APNSEnvironment
        let topics: Set<String>

        init(_ route: RouteConfiguration) {
            self.route = route.name
            environment = route.environment
            topics = Set(route.topics)
        }
    }

    private let state: Mutex<State>
    private let surroundings: Surroundings
    private let logger: Logger

    /// Starts with the routes that the lanes have already.
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - lanes: What the lanes were told at the start.
    ///   - surroundings: What it needs from its worker.
    ///   - logger: Where it says what it does.
    init(_ routes: [RouteConfiguration], on lanes: [LaneSettings], surroundings: Surroundings, logger: Logger) {
        var state = State(roster: RouteRoster(routes))
        for (number, route) in routes.enumerated() {
            let own = lanes.filter { $0.routes.contains { $0.number == number } }
            let settings = own.first?.routes.first { $0.number == number }
            state.roster.placed(number, on: own.map(\.index), queues: settings?.queues.count ?? 0)
            state.deadTokens[Audience(route)] = settings?.shared.deadTokens
        }
        self.state = Mutex(state)
        self.surroundings = surroundings
        self.logger = logger
    }

    /// The names of the routes by their numbers; nil for a number without a route.
    var names: [String?] { state.withLock(\.roster.names) }

    /// The lanes that each route has, by its name.
    ///
    /// - Parameter statuses: How the lanes are doing.
    func lanes(consuming statuses: [LaneStatus]) -> [String: FleetRates.Lanes] {
        var lanes: [String: FleetRates.Lanes] = [:]
        state.withLock { state in
            for (number, name) in state.roster.names.enumerated() {
                if let name { lanes[name] = FleetRates.Lanes(all: state.roster.lanes(of: number), consuming: 0) }
            }
        }
        for route in statuses.flatMap(\.routes) { lanes[route.name]?.consuming += route.consumers }
        return lanes
    }

    /// The worker is to have these routes.
    func follow(_ routes: [RouteConfiguration]) {
        // The lanes are told under the lock, so that they hear of all steps in the order in which the steps were
        // decided.
        state.withLock { state in
            let steps = state.roster.want(routes)
            let audiences = Set(routes.map(Audience.init))
            state.deadTokens = state.deadTokens.filter { audiences.contains($0.key) }
            take(steps, &state)
        }
    }

    /// A lane is done with a route that was removed.
    func left(_ number: Int, lane: Int) {
        state.withLock { state in
            guard let (name, steps) = state.roster.left(number, lane: lane) else { return }
            logger.notice("a route has ended", metadata: .with([.route: "\(name)"]))
            take(steps, &state)
        }
    }

    private func take(_ steps: [RouteRoster.Step], _ state: inout State) {
        let roster = state.roster
        let table = RoutesTable(routes: roster.wanted.map(\.topology))
        for step in steps {
            switch step {
            case .add(let number, let route):
                guard let index = roster.wanted.firstIndex(of: route) else { continue }
                add(route, number, RouteClaim(table: table, index: index), &state)
            case .remove(let number):
                let name = roster.names[number] ?? ""
                logger.notice(
                    "a route takes no more jobs and finishes what it has", metadata: .with([.route: "\(name)"]))
                announce(.removed(number))
            case .limit(let number, let route):
                let lanes = roster.lanes(of: number)
                announce(.rate(number, route.rate.map { SharedRate(perSecond: $0, lanes: lanes) }))
            }
        }
        surroundings.memory.divide(among: state.roster.queues + WorkerBuilder.unroutedQueues.count)
        surroundings.share(state.roster.served)
    }

    private func add(_ route: RouteConfiguration, _ number: Int, _ claim: RouteClaim, _ state: inout State) {
        do throws(WorkerError) {
            let places = try surroundings.maker.places(
                of: route, number: number, claim: claim, on: surroundings.lanes.keys.sorted(),
                routes: state.roster.wanted.count, after: state.deadTokens[Audience(route)])
            state.roster.placed(number, on: places.map(\.lane), queues: places.first?.settings.queues.count ?? 0)
            state.deadTokens[Audience(route)] = places.first?.settings.shared.deadTokens
            for (lane, settings) in places { surroundings.lanes[lane]?.post(.added(settings)) }
            logger.notice("a route begins", metadata: .with([.route: "\(route.name)"]))
        } catch {
            logger.error(
                "a route cannot begin", metadata: .with([.route: "\(route.name)", .error: "\(error.message)"]))
        }
    }

    private func announce(_ message: LaneMessage) {
        for handle in surroundings.lanes.values { handle.post(message) }
    }
}
