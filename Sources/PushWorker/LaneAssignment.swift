import APNSClient
import WorkerSettings

/// Decides on which lanes a route lives, and how many connections it has on each. Pure.
///
/// A route on several lanes uses several cores: each of them has its own consumers of the route's queues, its own credit
/// and its own connections.
struct LaneAssignment {
    /// A route's place on one lane.
    struct Share: Equatable {
        /// The lane's number.
        var lane: Int
        /// How many connections the route has there.
        var connections: APNSConnectionCount
    }

    /// The most lanes of a route that asks for none: as many as it may have connections, of which Apple wants few.
    static let automaticMaximum = APNSPoolConfiguration.automaticMaximum

    /// How many lanes the worker has.
    let lanes: Int
    /// How many routes are configured.
    let routes: Int

    /// The places of a route.
    ///
    /// By default these are all lanes, up to a limit, while there are no more routes than lanes, else one. No lane is without a
    /// connection, so that few connections are few lanes. Where it is not all lanes, a hash of the name decides which, the
    /// same in every worker.
    ///
    /// - Parameters:
    ///   - name: The route's name.
    ///   - wanted: How many lanes it shall live on; more than there are count as all.
    ///   - connections: How many connections the worker may open for it.
    /// - Returns: At least one place, in the order in which connections are dealt out.
    func shares(of name: String, lanes wanted: AutomaticOr<Int>, connections: AutomaticOr<Int>) -> [Share] {
        let automatic = routes <= lanes ? Self.automaticMaximum : 1
        var count = min(wanted.fixedValue ?? automatic, lanes)
        if let most = connections.fixedValue { count = min(count, most) }
        count = max(1, count)
        let first = Self.lane(of: name, among: lanes)
        return (0..<count).map { place in
            let dealt: (Int) -> Int = { max(1, $0 / count + (place < $0 % count ? 1 : 0)) }
            return Share(
                lane: (first + place) % max(1, lanes),
                connections: connections.fixedValue.map { .fixed(dealt($0)) }
                    ?? .automatic(maximum: dealt(APNSPoolConfiguration.automaticMaximum)))
        }
    }

    private static func lane(of name: String, among lanes: Int) -> Int {
        Int(StableHash.of(name) % UInt64(max(1, lanes)))
    }
}
