package import PushModel

/// One entry of `routes`.
package struct RouteConfiguration: Sendable, Equatable {
    /// How many percent of the requests are free of normal jobs where the configuration says nothing.
    package static let standardHighShare = 25

    /// The name: `[a-z0-9-]{1,40}`, part of queue names.
    package var name: String
    /// The environment that its device tokens belong to.
    package var environment: APNSEnvironment
    /// The bundle identifiers it pushes for, each with all of ``TopicSuffix/all``.
    package var topics: [String]
    /// The name of its credential.
    package var credential: String
    /// How many connections a worker may open for it.
    package var connections: AutomaticOr<Int>
    /// Whether `high` jobs have a queue of their own.
    package var highLane: Bool
    /// How many percent of the requests that the connections take at once are kept for `high` jobs, if these have a
    /// queue of their own.
    package var highShare: Int
    /// The most notifications per second that one worker may send; nil for no limit.
    package var rate: Double?
    /// Whether requests leave out the topic; the certificate then names it.
    package var omitTopic: Bool
    /// The queue that `martlet topology` makes for a copy of its results; nil for none.
    package var resultsQueue: String?
    /// The most results of this route in one message; nil if `results.batch` decides.
    package var resultsBatch: Int?
}
