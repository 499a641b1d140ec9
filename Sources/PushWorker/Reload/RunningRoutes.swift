import Logging
import PushModel
import Synchronization
import Topology
import WorkerSettings

/// Lets the worker's routes follow the configuration while the worker runs. Safe on any thread.
final class RunningRoutes: Sendable {
    /// What it needs from its worker.
    struct Surroundings: Sendable {
        /// Makes the settings of a route for the lane.
        let maker: RouteMaker
        /// The lane.
        let lane: LaneHandle
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

    /// Starts with the routes that the lane has already.
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - lane: What the lane was told at the start.
    ///   - surroundings: What it needs from its worker.
    ///   - logger: Where it says what it does.
    init(_ routes: [RouteConfiguration], on lane: LaneSettings, surroundings: Surroundings, logger: Logger) {
        var state = State(roster: RouteRoster(routes))
        for (number, route) in routes.enumerated() {
            guard let settings = lane.routes.first(where: { $0.number == number }) else { continue }
            state.roster.began(number, queues: settings.queues.count)
            state.deadTokens[Audience(route)] = settings.deadTokens
        }
        self.state = Mutex(state)
        self.surroundings = surroundings
        self.logger = logger
    }

    /// The names of the routes by their numbers; nil for a number without a route.
    var names: [String?] { state.withLock(\.roster.names) }

    /// Whether each route that has begun consumes, by its name.
    ///
    /// - Parameter status: How the lane is doing; nil before its first turn.
    func consuming(_ status: LaneStatus?) -> [String: Bool] {
        var routes: [String: Bool] = [:]
        state.withLock { state in
            for (number, name) in state.roster.names.enumerated() where state.roster.hasBegun(number) {
                if let name { routes[name] = false }
            }
        }
        for route in status?.routes ?? [] where routes[route.name] != nil { routes[route.name] = route.isConsuming }
        return routes
    }

    /// The worker is to have these routes.
    func follow(_ routes: [RouteConfiguration]) {
        // The lane is told under the lock, so that it hears of all steps in the order in which they were decided.
        state.withLock { state in
            let steps = state.roster.want(routes)
            let audiences = Set(routes.map(Audience.init))
            state.deadTokens = state.deadTokens.filter { audiences.contains($0.key) }
            take(steps, &state)
        }
    }

    /// The lane is done with a route that was removed.
    func left(_ number: Int) {
        state.withLock { state in
            guard let (name, steps) = state.roster.left(number) else { return }
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
                surroundings.lane.post(.removed(number))
            case .limit(let number, let route):
                surroundings.lane.post(.rate(number, route.rate))
            }
        }
        surroundings.memory.divide(among: state.roster.queues + WorkerBuilder.unroutedQueues.count)
        surroundings.share(state.roster.served)
    }

    private func add(_ route: RouteConfiguration, _ number: Int, _ claim: RouteClaim, _ state: inout State) {
        do throws(WorkerError) {
            let settings = try surroundings.maker.settings(
                of: route, number: number, claim: claim, after: state.deadTokens[Audience(route)])
            state.roster.began(number, queues: settings.queues.count)
            state.deadTokens[Audience(route)] = settings.deadTokens
            surroundings.lane.post(.added(settings))
            logger.notice("a route begins", metadata: .with([.route: "\(route.name)"]))
        } catch {
            logger.error(
                "a route cannot begin", metadata: .with([.route: "\(route.name)", .error: "\(error.message)"]))
        }
    }
}
