import EventLoop

/// Decides from looks at the worker what the service manager is told.
///
/// A worker is called ready when `/readyz` says so. The workers of a machine can then be restarted one after the other.
/// A worker that turns, but waits for a broker or a credential, is called ready after ``patience``, too. Otherwise the
/// service manager would end a start that takes long, although a restart does not help.
struct ServiceManagerReport: Equatable {
    /// The findings of a look at the worker.
    struct Look: Equatable {
        /// Whether the lane has turned.
        var hasStarted = true
        /// Whether the lane turns, as `/livez` means it.
        var isAlive = true
        /// Why the worker is not ready, as `/readyz` says it; empty when it is.
        var reasons: [String] = []
    }

    /// How long a worker that turns may wait before it is called ready. This is less than the usual time for a start,
    /// 90 s.
    static let patience = Duration.seconds(20)

    private enum Phase: Equatable {
        /// Not ready yet. The first look was at this moment; nil before it.
        case starting(since: MonotonicTime?)
        case running
        case reloading
        /// Reloaded, but the service manager was not told yet.
        case reloaded
        case stopping
    }

    /// The time between two signs of life; nil without a watchdog.
    let watchdogInterval: Duration?
    private var phase = Phase.starting(since: nil)
    private var status: String?
    private var lastSign: MonotonicTime?

    /// Nothing was told yet.
    ///
    /// - Parameter watchdog: How long the watchdog waits for a sign of life; nil without one.
    init(watchdog: Duration?) {
        watchdogInterval = watchdog.map { $0 / 2 }
    }

    /// Looks at the worker.
    ///
    /// - Parameters:
    ///   - look: The findings.
    ///   - now: The present.
    /// - Returns: What to tell; nil for nothing.
    mutating func next(_ look: Look, at now: MonotonicTime) -> ServiceManagerMessage? {
        var message = ServiceManagerMessage()
        message.change = change(look, at: now)
        let words = words(look)
        if words != status { message.status = words }
        status = words
        if let watchdogInterval, look.isAlive, lastSign.map({ now - $0 >= watchdogInterval }) ?? true {
            message.feedsWatchdog = true
            lastSign = now
        }
        return message == ServiceManagerMessage() ? nil : message
    }

    /// Notes that the worker begins to read its configuration and its credentials again. This is news only while the
    /// worker runs and is not reloading.
    ///
    /// - Parameter now: The present.
    /// - Returns: What to tell; nil for nothing.
    mutating func beginReload(at now: MonotonicTime) -> ServiceManagerMessage? {
        guard phase == .running || phase == .reloaded else { return nil }
        phase = .reloading
        return ServiceManagerMessage(change: .reloading(now))
    }

    /// The worker has read them; the next look tells.
    mutating func endReload() {
        if phase == .reloading { phase = .reloaded }
    }

    /// The worker begins to end.
    ///
    /// - Returns: What to tell; nil where that was told.
    mutating func stop() -> ServiceManagerMessage? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        status = WorkerReadiness.draining
        return ServiceManagerMessage(change: .stopping, status: status)
    }

    private mutating func change(_ look: Look, at now: MonotonicTime) -> ServiceManagerMessage.Change? {
        switch phase {
        case .starting(let since):
            let since = since ?? now
            phase = .starting(since: since)
            let isReady = look.reasons.isEmpty || now - since >= Self.patience
            guard look.hasStarted, look.isAlive, isReady else { return nil }
        case .reloaded: break
        case .running, .reloading, .stopping: return nil
        }
        phase = .running
        return .ready
    }

    private func words(_ look: Look) -> String {
        if !look.isAlive { return "stuck: a lane does not turn" }
        if phase == .stopping { return WorkerReadiness.draining }
        guard let reason = look.reasons.first else { return "ready" }
        let more = look.reasons.count - 1
        return "waits: \(reason)\(more == 0 ? "" : " (and \(more) more)")"
    }
}
