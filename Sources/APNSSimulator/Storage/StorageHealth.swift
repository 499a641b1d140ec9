import Synchronization

/// Which files of the state directory cannot be written at present, for people who look on. Safe from any thread.
final class StorageHealth: Sendable {
    private let troubles = Mutex<[String: String]>([:])

    /// Starts without trouble.
    init() {}

    /// Notes how an attempt to write ended.
    ///
    /// - Parameters:
    ///   - what: What was to be written; a later success takes its trouble back.
    ///   - error: What went wrong; nil for nothing.
    func note(_ what: String, _ error: SimulatorError?) { troubles.withLock { $0[what] = error?.message } }

    /// What cannot be written at present, in a sentence each; nil where everything can be.
    var trouble: String? {
        troubles.withLock { troubles in
            troubles.isEmpty ? nil : troubles.sorted { $0.key < $1.key }.map(\.value).joined(separator: "; ")
        }
    }
}
