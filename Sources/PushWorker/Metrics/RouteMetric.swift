/// One counter or gauge of a route: its metric's name, its help, and the value.
struct RouteMetric: Sendable {
    /// Where the value is.
    let path: any WritableKeyPath<RouteCounters, Int> & Sendable
    /// The metric's name.
    let name: String
    /// What it measures.
    let help: String
    /// Whether it is written once for the worker, and for each route only where details are wanted.
    var isDetail = false
}
