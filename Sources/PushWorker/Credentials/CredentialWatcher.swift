import APNSClient
import EventLoop
import Logging
import Synchronization
import WorkerSettings

/// Watches the files of all credentials on a thread of its own, because reading them may block and the lane must not.
///
/// The watcher polls. Polling a few files costs little, and it notices renames, swapped links and changes on network
/// file systems.
final class CredentialWatcher: Sendable {
    /// How often files are looked at.
    static let interval = Duration.seconds(5)

    /// What other threads may tell the watcher.
    private enum Message: Sendable {
        case reload([CredentialConfiguration], then: @Sendable () -> Void)
        case stop
    }

    private let store: CredentialStore
    private let logger: Logger
    private let interval: Duration
    private let announce: @Sendable (LaneMessage) -> Void
    private let state = Mutex(State())

    private struct State {
        var post: (@Sendable (Message) -> Void)?
        /// Messages that were posted before `run()` could read them.
        var early: [Message] = []
    }

    /// A watcher that does not run yet.
    ///
    /// - Parameters:
    ///   - store: The credentials.
    ///   - logger: Where changes and warnings go.
    ///   - interval: How often files are looked at.
    ///   - announce: Tells the lane.
    init(
        store: CredentialStore, logger: Logger, interval: Duration = CredentialWatcher.interval,
        announce: @escaping @Sendable (LaneMessage) -> Void
    ) {
        self.store = store
        self.logger = logger
        self.interval = interval
        self.announce = announce
    }

    /// Watches until `stop()`; blocks the calling thread.
    func run() throws(EventLoopError) {
        let loop = try EventLoop()
        let mailbox = Mailbox<Message>(waking: loop.wakeup)
        let early = state.withLock { state in
            state.post = { mailbox.post($0) }
            defer { state.early = [] }
            return state.early
        }
        for message in early { mailbox.post(message) }
        var expiries: [String: CredentialExpiryStateMachine] = [:]
        var nextLook = MonotonicTime.now()
        for failure in store.failures { tell(failure, isAsked: false) }
        while true {
            if MonotonicTime.now() >= nextLook {
                for change in store.readChanged() { tell(change, isAsked: false) }
                warn(&expiries)
                nextLook = MonotonicTime.now().adding(interval)
            }
            try loop.turn(waitingAtMost: nextLook - .now())
            for message in mailbox.take() {
                switch message {
                case .stop: return
                case .reload(let configurations, let follow):
                    for change in store.readAll(configurations) { tell(change, isAsked: true) }
                    follow()
                    warn(&expiries)
                }
            }
        }
    }

    /// Ends `run()`.
    func stop() { send(.stop) }

    /// Reads all credentials again.
    ///
    /// - Parameters:
    ///   - configurations: How they are configured now.
    ///   - follow: Called once the credentials are read, on the thread that reads them.
    func reload(_ configurations: [CredentialConfiguration], then follow: @escaping @Sendable () -> Void = {}) {
        send(.reload(configurations, then: follow))
    }

    private func send(_ message: Message) {
        let post = state.withLock { state in
            if state.post == nil { state.early.append(message) }
            return state.post
        }
        post?(message)
    }

    private func tell(_ change: CredentialStore.Change, isAsked: Bool) {
        switch change {
        case .changed(let credential, let before):
            logger.notice(
                "a credential changed: the new one is proved before it is used",
                metadata: .with([
                    .credential: "\(credential.name)", .detail: "\(credential.label), before: \(before ?? "none")",
                    .version: "\(credential.version)",
                ]))
            announce(.credentialChanged(credential))
        case .unchanged(let name):
            guard isAsked else { return }
            logger.info("a credential is unchanged", metadata: .with([.credential: "\(name)"]))
        case .failed(let name, let reason, false):
            logger.error(
                "a credential cannot be used: its routes are parked until its files are mended",
                metadata: .with([.credential: "\(name)", .error: "\(reason)"]))
            announce(.credentialUnusable(name: name, reason: reason))
        case .failed(let name, let reason, true):
            logger.error(
                "a credential cannot be read: the present one stays in use",
                metadata: .with([.credential: "\(name)", .error: "\(reason)"]))
        }
    }

    private func warn(_ expiries: inout [String: CredentialExpiryStateMachine]) {
        let now = WallClock.milliseconds() / 1_000
        for status in store.statuses {
            guard let end = status.notAfter,
                let stage = expiries[status.name, default: .init()].advance(notAfter: end, now: now)
            else { continue }
            let metadata = Logger.Metadata.with([
                .credential: "\(status.name)", .detail: "it ends \(LogTime(milliseconds: end * 1_000).toTheSecond)",
                .count: "\(max(0, (end - now) / 86_400)) days",
            ])
            if stage == .over {
                logger.error(
                    "a certificate has expired: its routes are parked until it is replaced", metadata: metadata)
            } else {
                logger.warning("a certificate expires soon: replace its file", metadata: metadata)
            }
        }
    }
}
