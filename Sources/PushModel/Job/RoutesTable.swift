/// Finds the route that claims an (environment, topic with suffix). It compares bytes and makes no text.
package struct RoutesTable: Sendable {
    private struct Claim: Sendable {
        let environment: APNSEnvironment
        let topic: [UInt8]
        let route: Int
    }

    private let claims: [Claim]
    private let claimsOfRoute: [Range<Int>]
    private let suffixes = TopicSuffix.all.dropFirst().map { Array($0.utf8) }

    /// Makes the table; the routes keep their order.
    ///
    /// - Parameter routes: What each route claims: topics of an environment, each with every one of
    ///   ``TopicSuffix/all``. No two may claim one (environment, topic).
    package init(claims routes: [(environment: APNSEnvironment, topics: [String])]) {
        var claims: [Claim] = []
        claimsOfRoute = routes.enumerated().map { index, route in
            let start = claims.count
            claims += route.topics.map { Claim(environment: route.environment, topic: Array($0.utf8), route: index) }
            return start..<claims.count
        }
        self.claims = claims
    }

    /// The position of the route that claims a topic; nil if none does.
    ///
    /// - Parameters:
    ///   - environment: The job's environment.
    ///   - topic: The job's topic with its suffix.
    package func route(_ environment: APNSEnvironment, _ topic: Span<UInt8>) -> Int? {
        for claim in claims where claim.environment == environment && matches(topic, claim.topic) {
            return claim.route
        }
        return nil
    }

    /// Whether one route claims a topic: the check for a job that came from that route's queue.
    ///
    /// - Parameters:
    ///   - route: The route's position.
    ///   - environment: The job's environment.
    ///   - topic: The job's topic with its suffix.
    package func route(_ route: Int, claims environment: APNSEnvironment, _ topic: Span<UInt8>) -> Bool {
        for index in claimsOfRoute[route]
        where claims[index].environment == environment && matches(topic, claims[index].topic) {
            return true
        }
        return false
    }

    private func matches(_ topic: Span<UInt8>, _ bundle: [UInt8]) -> Bool {
        guard topic.count >= bundle.count, equal(topic, from: 0, bundle) else { return false }
        let rest = topic.count - bundle.count
        if rest == 0 { return true }
        for suffix in suffixes where suffix.count == rest {
            if equal(topic, from: bundle.count, suffix) { return true }
        }
        return false
    }

    private func equal(_ topic: Span<UInt8>, from start: Int, _ expected: [UInt8]) -> Bool {
        for index in expected.indices where topic[start + index] != expected[index] { return false }
        return true
    }
}
