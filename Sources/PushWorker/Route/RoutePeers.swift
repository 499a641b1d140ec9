import PushModel

/// The same route on the other lanes of the worker: which lanes these are, and how a lane tells them something.
struct RoutePeers {
    /// The number of this lane.
    let lane: Int
    /// The numbers of all lanes on which the route lives.
    let lanes: [Int]
    /// The number of the route in the worker; nil for a route that tells nothing.
    private let route: Int?
    private let post: (Int, LaneMessage) -> Bool

    /// The peers of a route on one lane.
    ///
    /// - Parameters:
    ///   - route: The number of the route in the worker; nil for the route that answers `NoRoute`, which tells nothing.
    ///   - lane: The number of the lane.
    ///   - lanes: The numbers of all lanes on which the route lives.
    ///   - post: Tells another lane of the worker something; returns whether that lane is there.
    init(of route: Int?, on lane: Int, lanes: [Int], post: @escaping (Int, LaneMessage) -> Bool) {
        (self.route, self.lane, self.lanes, self.post) = (route, lane, lanes, post)
    }

    /// Whether the route lives on other lanes, too.
    var hasOthers: Bool { lanes.count > 1 }

    /// Tells the same route on another lane.
    ///
    /// - Returns: Whether that lane is there.
    @discardableResult
    func tell(_ lane: Int, _ message: RouteMessage) -> Bool {
        guard let route else { return false }
        return post(lane, .route(route, message))
    }

    /// Tells the same route on all other lanes.
    ///
    /// - Returns: How many of them are there.
    @discardableResult
    func tellOthers(_ message: RouteMessage) -> Int { lanes.count { $0 != lane && tell($0, message) } }

    /// A job of this lane, as other lanes know it.
    func here(_ job: JobInFlight) -> JobOnLane { JobOnLane(lane: lane, job: job) }

    /// A delivery of this lane, as other lanes know it.
    ///
    /// - Parameters:
    ///   - delivery: The job that the delivery became.
    ///   - key: The key by which the job is recognised.
    func here(_ delivery: JobInFlight, _ key: RedeliveryKey) -> DeliveryOnLane {
        DeliveryOnLane(
            lane: lane, generation: delivery.generation, deliveryTag: delivery.deliveryTag, origin: delivery.origin,
            key: key)
    }

    // MARK: Deliveries that other lanes lent to jobs of this one

    /// Everything a job asked for is confirmed: the lane with its delivery may acknowledge the delivery.
    func settleLent(_ job: JobInFlight) { giveUpLent(job, .acknowledged(isRemembered: !job.comesBackUnchanged)) }

    /// A job goes back to the broker, for another worker.
    func giveBackLent(_ job: JobInFlight) {
        // If the channel of the lent delivery is gone by then, the job goes on with its next delivery.
        job.postponeUnsent()
        giveUpLent(job, .givenBack)
    }

    private func giveUpLent(_ job: JobInFlight, _ fate: RouteMessage.LentFate) {
        guard let lent = job.lent else { return }
        job.losesLent()
        tell(lent.lane, .settled(lent, of: here(job), fate))
    }
}
