import EventLoop
import RabbitMQ

/// How a lane is doing, for readiness: what works, and, in words, what does not.
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
        /// What answers in the place of APNs; nil if only APNs answers.
        var stranger: String?
        /// Why the broker does not take what it publishes, such as `results_full`; nil where the broker takes it.
        var refusal: String?
        /// Whether it consumes its queues to push all that is in them.
        var isConsuming = false
    }

    /// How a connection to the broker is doing, in the words of readiness.
    enum Link: String, CaseIterable {
        case up, blocked, connecting, down
    }

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
    /// Whether its connections to the broker are open.
    var isConnected: Bool { consume == "up" && (publish == "up" || publish == "blocked") }
    /// Why it is not working as a whole, in one line each.
    var troubles: [String]
    /// What keeps all its routes from publishing, in the words of readiness, such as `results_full`; nil if one of them
    /// can publish, or if no route wants to.
    var refusal: String?
    /// Its routes by their positions on the lane; nil for a route that has left.
    var positions: [Route?]
    /// Its routes.
    var routes: [Route] { positions.compactMap(\.self) }

    /// Why there are no connections to the broker, in one line each; empty while both are open.
    ///
    /// The consuming connection waits for the publishing one. Its own last failure may be long over then, so it has the
    /// trouble of the publishing one.
    ///
    /// - Parameters:
    ///   - consuming: Whether the consuming connection is open, and its last failure.
    ///   - publishing: Whether the publishing connection is open, and its last failure.
    static func troubles(
        consuming: (isOpen: Bool, trouble: String?), publishing: (isOpen: Bool, trouble: String?)
    ) -> [String] {
        var troubles: [String] = []
        if !consuming.isOpen {
            let trouble = publishing.isOpen ? consuming.trouble : publishing.trouble
            troubles.append("broker (consuming): \(trouble ?? "connecting")")
        }
        if !publishing.isOpen { troubles.append("broker (publishing): \(publishing.trouble ?? "connecting")") }
        return troubles
    }

}

extension Lane {
    /// How the lane is doing now.
    func status() -> LaneStatus {
        var troubles = LaneStatus.troubles(
            consuming: (consumeLink.session != nil, consumeLink.trouble),
            publishing: (publishLink.session != nil, publishLink.trouble))
        if let trouble = publisher.trouble {
            troubles.append(trouble)
        } else if publishLink.session != nil, !publisher.isOpen {
            troubles.append("broker (publishing): the channel is not open")
        }
        if publishLink.session?.isBlocked == true { troubles.append("blocked") }
        return LaneStatus(
            takenAt: now, isDraining: drain != nil,
            consume: Self.word(for: consumeLink).rawValue, publish: Self.word(for: publishLink).rawValue,
            troubles: troubles, refusal: refusal, positions: report.statuses)
    }

    /// The publishing trouble of the whole lane; nil without one. Also nil if any route without trouble of its own has
    /// work, or has had a publication confirmed since the lane's trouble began.
    private var refusal: String? {
        guard publisher.proof.troubledSince != nil else { return nil }
        var trouble: String?
        for route in routes {
            if let own = publisher.trouble(of: route.position) {
                trouble = own
            } else if !route.isIdle || publisher.proof.isSound(route.position) {
                return nil
            }
        }
        return trouble
    }

    private static func word(for link: BrokerLink) -> LaneStatus.Link {
        guard let connection = link.session else { return link.trouble == nil ? .connecting : .down }
        return connection.isBlocked ? .blocked : .up
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
            if let (skew, isWrong) = route.learnClock() {
                log.credentials.clockCompared(skew, isWrong: isWrong, by: route)
            }
            let (status, counters) = route.report(at: moment, isDraining: drain != nil)
            report.take(status, counters, of: route)
        }
        handle.publish(status(), snapshot())
    }
}
