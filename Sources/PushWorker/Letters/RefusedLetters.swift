import EventLoop

/// The letters whose results the broker refused, for instance because a queue of that app's results is full. Their apps
/// are tried again after growing waits; the letters of other apps go on. Pure: time and randomness come in.
///
/// An app is its environment and topic. While an app is refused, the letters of that app stay unacknowledged and unread.
/// One letter at a time goes back to its queue and is tried when its app's wait is over. So each try publishes the results
/// of one letter again, and no more.
struct RefusedLetters {
    /// How many letters may stay unacknowledged. Ten thousand tags take 80 KB. With more letters of refused apps the other
    /// apps' letters behind them wait, too.
    static let most = 10_000
    /// How many apps are told apart. Further apps count as one.
    static let mostApps = 1_000
    /// The waits of an app.
    private static var waits: Backoff { Backoff(base: .seconds(5), cap: .seconds(300)) }

    private struct App {
        var backoff = RefusedLetters.waits
        var due: MonotonicTime
        /// The delivery tags of its letters, oldest first.
        var tags: [UInt64] = []
    }

    private var apps: [[UInt8]: App] = [:]

    /// Whether no app is refused.
    var isEmpty: Bool { apps.isEmpty }
    /// How many letters stay unacknowledged.
    var count: Int { apps.values.reduce(0) { $0 + $1.tags.count } }

    private func known(_ app: [UInt8]) -> [UInt8] { apps[app] != nil || apps.count < Self.mostApps ? app : [] }

    /// Whether an app was refused before, so that its next letter is a trial.
    func isRefused(_ app: [UInt8]) -> Bool { apps[known(app)] != nil }

    /// Whether a letter of an app may be tried now.
    func mayTry(_ app: [UInt8], now: MonotonicTime) -> Bool { apps[known(app)].map { now >= $0.due } ?? true }

    /// A letter of a refused app arrived: it stays unacknowledged.
    mutating func putAside(_ tag: UInt64, of app: [UInt8]) { apps[known(app)]?.tags.append(tag) }

    /// The broker refused results of an app, or did not answer.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - tag: The letter, which stays unacknowledged; nil where its connection ends.
    ///   - now: The time.
    ///   - random: Draws the wait.
    mutating func refused(
        _ app: [UInt8], _ tag: UInt64?, now: MonotonicTime, random: inout some RandomNumberGenerator
    ) {
        let app = known(app)
        var refused = apps[app] ?? App(due: now)
        refused.due = now + refused.backoff.next(using: &random)
        if let tag { refused.tags.insert(tag, at: 0) }
        apps[app] = refused
    }

    /// The broker took all results of a letter.
    ///
    /// - Returns: The letters of its app, which go back to their queue to be read now.
    mutating func delivered(_ app: [UInt8]) -> [UInt64] { apps.removeValue(forKey: known(app))?.tags ?? [] }

    /// The letters to give back now for another try: one for each app whose wait is over.
    mutating func takeDue(now: MonotonicTime) -> [UInt64] {
        var due: [UInt64] = []
        for (app, one) in apps where now >= one.due && !one.tags.isEmpty {
            due.append(one.tags[0])
            apps[app]?.tags.removeFirst()
        }
        return due
    }

    /// The connection is gone: all letters come again. The apps stay refused.
    mutating func connectionLost() {
        for app in apps.keys { apps[app]?.tags = [] }
    }
}
