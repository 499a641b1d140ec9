import EventLoop
import RabbitMQ

/// How a lane is doing, for readiness: what works, and in words what does not.
struct LaneStatus: Sendable {
    /// One route on the lane.
    struct Route: Equatable, Sendable {
        /// The route's name.
        var name: String
        /// What it does.
        var state: RouteState
        /// Connections to APNs that can be used.
        var connections: Int
        /// The version of its credential in use.
        var credentialVersion: Int?
        /// Why it is not ready, in one line each.
        var troubles: [String]
        /// The limit that keeps it from pushing more.
        var limitedBy: RouteLimit

        /// Adds how the same route is doing on another lane.
        ///
        /// The state is the best one of all lanes, because the broker gives a lane that stands still nothing. The
        /// troubles of all lanes are told.
        mutating func join(_ other: Route) {
            state = min(state, other.state)
            connections += other.connections
            // A new version is in use once all lanes use it.
            credentialVersion = [credentialVersion, other.credentialVersion].compactMap(\.self).min()
            troubles += other.troubles.filter { !troubles.contains($0) }
            limitedBy = limitedBy.joined(with: other.limitedBy)
        }
    }

    /// The lane's number.
    var index: Int
    /// When it was taken: the proof that the lane turns.
    var takenAt: MonotonicTime
    /// Whether the lane was asked to finish.
    var isDraining: Bool
    /// `up`, `connecting` or `down`.
    var consume: String
    /// `up`, `blocked`, `connecting` or `down`.
    var publish: String
    /// Whether it can consume and publish.
    var isWorking: Bool { consume == "up" && publish == "up" }
    /// Why it is not working as a whole, in one line each.
    var troubles: [String]
    /// Its routes by their positions on the lane; nil for a route that has left.
    var positions: [Route?]
    /// Its routes.
    var routes: [Route] { positions.compactMap(\.self) }
}

extension Lane {
    /// How the lane is doing now.
    func status() -> LaneStatus {
        var troubles: [String] = []
        if consumeLink.session == nil {
            troubles.append("broker (consuming): \(consumeLink.trouble ?? "connecting")")
        }
        if publishLink.session == nil {
            troubles.append("broker (publishing): \(publishLink.trouble ?? "connecting")")
        }
        if let trouble = publisher.trouble {
            troubles.append(trouble)
        } else if publishLink.session != nil, !publisher.isOpen {
            troubles.append("broker (publishing): the channel is not open")
        } else if let trouble = commonTrouble {
            troubles.append(trouble)
        }
        if publishLink.session?.isBlocked == true { troubles.append("blocked") }
        return LaneStatus(
            index: settings.index, takenAt: now, isDraining: drain != nil,
            consume: Self.word(for: consumeLink), publish: Self.word(for: publishLink), troubles: troubles,
            positions: report.statuses)
    }

    /// Why no route's results go through although the channel is open: the trouble of one route, if each route that has
    /// work has one.
    private var commonTrouble: String? {
        var trouble: String?
        for route in routes {
            if let own = publisher.trouble(of: route.position) { trouble = own } else if !route.isIdle { return nil }
        }
        return trouble
    }

    private static func word(for link: BrokerLink) -> String {
        guard let connection = link.session else { return link.trouble == nil ? "connecting" : "down" }
        return connection.isBlocked ? "blocked" : "up"
    }

    /// Everything counted so far.
    private func snapshot() -> LaneSnapshot {
        counters.longestTurn = longestTurn.value(now: now)
        counters.isConsumerUp = consumeLink.session != nil
        counters.isPublisherUp = publishLink.session != nil
        counters.isBlocked = publishLink.session?.isBlocked == true
        counters.isJournalUp = settings.wantsJournal ? journal?.isOn == true : nil
        counters.unconfirmed = publisher.unconfirmed
        counters.publications = publisher.counts.publications
        counters.confirms = publisher.counts.confirms
        counters.brokerConnects = consumeLink.opened + publishLink.opened
        counters.brokerDisconnects = consumeLink.lost + publishLink.lost
        return LaneSnapshot(lane: counters, routes: report.counters, left: turnover.counted)
    }

    /// Leaves the lane's status and counters, with new reports of its routes.
    func leaveReport() {
        while let route = report.next() {
            watchClock(of: route)
            let (status, counters) = route.report(at: moment, isDraining: drain != nil)
            report.take(status, counters, of: route)
        }
        handle.publish(status(), snapshot())
    }
}
