/// What a route counts on one lane.
///
/// A class, because the parts of the route count together. Confined to its lane.
final class RouteTally {
    /// The counters, and the gauges of the latest report.
    var counters: RouteCounters

    /// A tally at zero.
    ///
    /// - Parameter tiers: How many tiers there are, holding tiers included.
    init(tiers: Int) { counters = RouteCounters(tiers: tiers) }
}
