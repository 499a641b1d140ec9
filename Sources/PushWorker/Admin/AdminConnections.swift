import NIOCore
import Synchronization

/// The roster that all connections of one server share. Safe on any thread.
///
/// Thousands of silent connections cannot keep a probe out: each new connection takes the place of the one that has
/// been silent longest. Hummingbird's own limit (`AvailableConnectionsDelegate`) would stop accepting instead. Silent
/// connections could then keep probes and scrapers out for as long as they like.
final class AdminConnections: Sendable {
    private struct State {
        var roster: ConnectionRoster<ObjectIdentifier>
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    /// Makes an empty roster.
    init(limit: Int) {
        state = Mutex(State(roster: ConnectionRoster(limit: limit)))
    }

    /// Takes a connection in. If there are too many, another one is closed.
    func add(_ channel: any Channel) {
        let leaving = state.withLock { state -> (any Channel)? in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.roster.add(ObjectIdentifier(channel)).flatMap { state.channels.removeValue(forKey: $0) }
        }
        leaving?.close(promise: nil)
    }

    /// Notes that a connection's request is there.
    func requestArrived(_ channel: any Channel) {
        state.withLock { $0.roster.requestArrived(ObjectIdentifier(channel)) }
    }

    /// Notes that the answer on a connection is written.
    func answered(_ channel: any Channel) {
        state.withLock { $0.roster.answered(ObjectIdentifier(channel)) }
    }

    /// Forgets a connection.
    func remove(_ channel: any Channel) {
        state.withLock {
            $0.channels[ObjectIdentifier(channel)] = nil
            $0.roster.remove(ObjectIdentifier(channel))
        }
    }
}
