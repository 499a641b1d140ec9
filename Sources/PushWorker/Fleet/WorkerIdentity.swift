import EventLoop
import WorkerSettings

/// The facts in a worker's reports that never change while it runs.
struct WorkerIdentity: Sendable {
    /// The worker's name.
    let instance: String
    /// The program's version.
    let program: String
    /// Its setting `share`.
    let share: String
    /// When it was put together, in milliseconds since 1970.
    let startedAt: Int64

    /// Takes what a configuration says.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - program: The program's version.
    init(_ configuration: WorkerConfiguration, program: String) {
        self.init(
            instance: configuration.instance, program: program, share: configuration.share.description,
            startedAt: WallClock.milliseconds())
    }

    /// Makes an identity from its parts.
    init(instance: String, program: String, share: String, startedAt: Int64) {
        self.instance = instance
        self.program = program
        self.share = share
        self.startedAt = startedAt
    }
}
