/// One counter or gauge of a route: the name and help of its metric, and its value.
struct RouteMetric: Sendable {
    /// Where the value is.
    let path: any WritableKeyPath<RouteCounters, Int> & Sendable
    /// The metric's name.
    let name: String
    /// What it measures.
    let help: String
    /// Whether it is written once, as a sum over all routes. With details it is written for each route.
    var isDetail = false
}
