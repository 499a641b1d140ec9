import EventLoop
import WorkerSettings

/// What a worker's reports say of it whatever happens.
struct WorkerIdentity: Sendable {
    /// The worker's name.
    let instance: String
    /// The program's version.
    let program: String
    /// Its setting `share`.
    let share: String
    /// When it was put together, in milliseconds since 1970.
    let startedAt: Int64
    /// The names of its routes by the positions of their counters: the configuration's, then that of jobs nobody claims.
    let routes: [String]

    /// Takes what a configuration says.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - program: The program's version.
    init(_ configuration: WorkerConfiguration, program: String) {
        self.init(
            instance: configuration.instance, program: program, share: configuration.share.description,
            startedAt: WallClock.milliseconds(), routes: configuration.routes.map(\.name) + [WorkerBuilder.unrouted])
    }

    /// Makes an identity from its parts.
    init(instance: String, program: String, share: String, startedAt: Int64, routes: [String]) {
        self.instance = instance
        self.program = program
        self.share = share
        self.startedAt = startedAt
        self.routes = routes
    }
}
