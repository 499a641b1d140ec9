import APNSClient
import Text
import WorkerSettings

/// Decides on which lanes a route lives, and how many connections it has on each. Pure.
///
/// A route on several lanes uses several cores: on each lane it has its own consumers of its queues, its own credit and
/// its own connections.
struct LaneAssignment {
    /// A route's place on one lane.
    struct Share: Equatable {
        /// The lane's number.
        var lane: Int
        /// How many connections the route has there.
        var connections: APNSConnectionCount
    }

    /// How many lanes the worker has.
    let lanes: Int
    /// How many routes are configured.
    let routes: Int

    /// The places of a route.
    ///
    /// - By default, a route lives on all lanes, up to the most that a route may have, if there are at most as many
    ///   routes as lanes. Otherwise it lives on one lane.
    /// - A route has at most as many lanes as connections.
    /// - A hash of the route's name chooses the first lane. Every worker chooses the same.
    ///
    /// - Parameters:
    ///   - name: The route's name.
    ///   - wanted: How many lanes it shall live on; more than there are count as all.
    ///   - connections: How many connections the worker may open for it, on all its lanes together.
    /// - Returns: At least one place, in the order in which connections are dealt out.
    func shares(of name: String, lanes wanted: AutomaticOr<Int>, connections: AutomaticOr<Int>) -> [Share] {
        let most = connections.fixedValue ?? APNSPoolConfiguration.automaticMaximum
        let automatic = routes <= lanes ? RouteConfiguration.mostLanes : 1
        let count = max(1, min(wanted.fixedValue ?? automatic, lanes, most))
        let first = Self.lane(of: name, among: lanes)
        return (0..<count).map { place in
            let dealt = max(1, most / count + (place < most % count ? 1 : 0))
            return Share(
                lane: (first + place) % max(1, lanes),
                connections: connections.fixedValue == nil ? .automatic(maximum: dealt) : .fixed(dealt))
        }
    }

    private static func lane(of name: String, among lanes: Int) -> Int {
        Int(StableHash.of(name) % UInt64(max(1, lanes)))
    }
}
