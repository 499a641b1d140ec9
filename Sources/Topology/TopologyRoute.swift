package import PushModel

/// The part of a route that the topology depends on.
package struct TopologyRoute: Sendable, Equatable {
    /// The route's name, `[a-z0-9-]{1,40}`.
    package var name: String
    /// The environment of APNs to which its tokens belong.
    package var environment: APNSEnvironment
    /// Its bundle identifiers, each claimed with every one of ``TopicSuffix/all``.
    package var topics: [String]
    /// Whether `high` jobs have a queue of their own.
    package var highLane: Bool
    /// The queue that gets a copy of the route's results; nil for none. Routes may share one.
    package var resultsQueue: String?

    /// Makes a route from its parts.
    package init(
        name: String, environment: APNSEnvironment, topics: [String], highLane: Bool = false,
        resultsQueue: String? = nil
    ) {
        self.name = name
        self.environment = environment
        self.topics = topics
        self.highLane = highLane
        self.resultsQueue = resultsQueue
    }
}
