import Synchronization

/// The connections that are open, of all ports and threads. Safe from any thread.
final class ConnectionList: Sendable {
    private let records = Mutex<[Int: ConnectionRecord]>([:])

    /// Starts empty.
    init() {}

    /// Takes a new connection in.
    ///
    /// - Parameters:
    ///   - record: What it does.
    ///   - number: Which connection.
    func add(_ record: ConnectionRecord, number: Int) { records.withLock { $0[number] = record } }

    /// Forgets a connection.
    ///
    /// - Parameter number: Which connection.
    func remove(number: Int) { records.withLock { $0[number] = nil } }

    /// The connections opened last, in the order of their opening.
    ///
    /// - Parameter limit: How many at most.
    /// - Returns: Their descriptions.
    func views(limit: Int) -> [ConnectionView] {
        let newest = records.withLock { $0.sorted { $0.key < $1.key }.suffix(limit).map(\.value) }
        return newest.map(\.view)
    }
}
