/// A job that one of a route's lanes works on. The other lanes may pass it on, and compare it with another job.
// Only the job's own lane looks into the job; all other lanes compare and release the reference.
struct JobOnLane: Equatable, @unchecked Sendable {
    /// The number of the job's lane.
    let lane: Int
    /// The job.
    let job: JobInFlight

    static func == (left: JobOnLane, right: JobOnLane) -> Bool { left.job === right.job }
}
