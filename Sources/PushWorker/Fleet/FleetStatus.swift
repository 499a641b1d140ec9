/// How a worker sees its fleet, if it finds its share of the routes by itself.
package struct FleetStatus: Sendable, Equatable {
    /// How many workers there are, this one included.
    package var workers: Int
    /// Why it serves every route, or that its share is not known yet; nil while it serves its share.
    package var detail: String?
    /// Whether its share is not known yet, so that it serves no route.
    package var isUndecided: Bool
    /// How many messages were ignored: they are not reports, or there are more workers than may be known.
    package var ignored: Int

    /// Makes a status from its parts.
    package init(workers: Int, detail: String? = nil, isUndecided: Bool = false, ignored: Int = 0) {
        self.workers = workers
        self.detail = detail
        self.isUndecided = isUndecided
        self.ignored = ignored
    }
}

extension FleetShare {
    /// The fleet as this worker sees it now.
    var status: FleetStatus {
        let detail = blindness.map { "every route is served, because the other workers cannot be seen: \($0)" }
        return FleetStatus(
            workers: workers, detail: detail ?? (isUndecided ? "share: the other workers are being found" : nil),
            isUndecided: isUndecided, ignored: ignored)
    }
}
