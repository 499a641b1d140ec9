import Synchronization

/// Numbers about the gateway as a whole, safe from any thread.
package final class GatewayCounters: Sendable {
    private let connectionsEver = Atomic(0)
    private let connectionsNow = Atomic(0)
    private let fastPushes = Atomic(0)
    private let fastBytes = Atomic(0)

    /// Starts at zero.
    package init() {}

    /// Connections accepted since the start.
    package var connectionsAccepted: Int { connectionsEver.load(ordering: .relaxed) }

    /// Connections that are open.
    package var connectionsOpen: Int { connectionsNow.load(ordering: .relaxed) }

    /// Requests that the thin mode answered with 200.
    package var acceptedWithoutLooking: Int { fastPushes.load(ordering: .relaxed) }

    /// Bytes of request bodies that the thin mode took.
    package var bytesWithoutLooking: Int { fastBytes.load(ordering: .relaxed) }

    /// Counts a new connection.
    ///
    /// - Returns: Its number, from 1.
    func connectionOpened() -> Int {
        connectionsNow.wrappingAdd(1, ordering: .relaxed)
        return connectionsEver.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Counts the end of a connection.
    func connectionClosed() { connectionsNow.wrappingSubtract(1, ordering: .relaxed) }

    /// Counts requests of the thin mode.
    ///
    /// - Parameters:
    ///   - pushes: How many.
    ///   - bytes: The length of their bodies together.
    func accepted(pushes: Int, bytes: Int) {
        fastPushes.wrappingAdd(pushes, ordering: .relaxed)
        fastBytes.wrappingAdd(bytes, ordering: .relaxed)
    }

    /// Sets the counts of requests back; connections stay.
    func reset() {
        fastPushes.store(0, ordering: .relaxed)
        fastBytes.store(0, ordering: .relaxed)
    }
}
