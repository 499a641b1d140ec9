import Synchronization

/// The files of the state directory that cannot be written at present, for the admin API. Safe from any thread.
final class StorageHealth: Sendable {
    private let troubles = Mutex<[String: String]>([:])

    /// Starts without trouble.
    init() {}

    /// Notes how an attempt to write ended.
    ///
    /// - Parameters:
    ///   - what: The name of what was to be written. A later success under the same name removes its trouble.
    ///   - error: The failure; nil for success.
    func note(_ what: String, _ error: SimulatorError?) { troubles.withLock { $0[what] = error?.message } }

    /// A sentence for each thing that cannot be written at present; nil where everything can be written.
    var trouble: String? {
        troubles.withLock { troubles in
            troubles.isEmpty ? nil : troubles.sorted { $0.key < $1.key }.map(\.value).joined(separator: "; ")
        }
    }
}
