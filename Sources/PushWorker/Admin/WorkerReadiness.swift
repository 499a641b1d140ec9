/// The body of `/readyz`: why a worker is not ready, and the state of its lane, its routes, its fleet and its control.
package struct WorkerReadiness: Sendable, Encodable {
    /// The state of the connections to the broker. It is a list of one in the text, because workers had several lanes
    /// once.
    package struct Lane: Sendable, Encodable {
        /// The lane's number.
        let lane = 0
        /// `up`, `connecting` or `down`.
        package var consume: String
        /// `up`, `blocked`, `connecting` or `down`.
        package var publish: String
        /// Why the lane does not work, in words; nil if it works.
        package var detail: String?

        /// Makes a state from its parts.
        package init(consume: String, publish: String, detail: String? = nil) {
            self.consume = consume
            self.publish = publish
            self.detail = detail
        }
    }

    /// The state of one route.
    package struct Route: Sendable, Encodable {
        /// The route's name.
        package var name: String
        /// A `RouteState`. A route that needs no connection now may be `ready` without one.
        package var state: String
        /// Why, such as `parked: APNs refuses the credential shop: InvalidProviderToken`; nil if nothing is wrong.
        package var reason: String?
        /// Usable APNs connections.
        package var connections: Int
        /// The version of the credential that its connections use, or would use; nil for a route without a credential.
        package var credentialVersion: Int?
        /// The limit that keeps it from pushing more: `streams`, `window`, `rate`, `broker`, `apns` or `nothing`.
        package var limitedBy: String?
        /// What answers in the place of APNs; nil if only APNs answers. Only the log tells it. In `/readyz` it is a
        /// possible `reason`.
        package var stranger: String?
        /// Why the broker does not take the route's publications; nil where it takes them. Only the log tells it. In
        /// `/readyz` it is a possible `reason`.
        package var refusal: String?

        private enum CodingKeys: String, CodingKey {
            case name, state, reason, connections
            case credentialVersion = "credential_version"
            case limitedBy = "limited_by"
        }

        /// Makes a route's state from its parts.
        package init(
            name: String, state: String, reason: String? = nil, connections: Int, credentialVersion: Int? = nil,
            limitedBy: String? = nil, stranger: String? = nil, refusal: String? = nil
        ) {
            self.limitedBy = limitedBy
            self.stranger = stranger
            self.refusal = refusal
            self.name = name
            self.state = state
            self.reason = reason
            self.connections = connections
            self.credentialVersion = credentialVersion
        }
    }

    /// The kind of trouble that keeps a worker or a route from its work.
    enum Hindrance {
        /// The worker is not ready.
        case unready
        /// The route takes no jobs.
        case parked
        /// The broker takes none of the route's publications, or not all of them.
        case refused
        /// Something else answers in the place of APNs.
        case displaced
    }

    /// How a worker sees its fleet, if it finds its share of the routes by itself.
    package struct Fleet: Sendable, Encodable {
        /// How many workers there are, this one included.
        package var workers: Int
        /// Why the worker serves every route, or none yet; nil if it serves its share.
        package var detail: String?

        /// Makes a fleet's state from its parts.
        package init(workers: Int, detail: String? = nil) {
            self.workers = workers
            self.detail = detail
        }
    }

    /// How a worker knows what operators ask for.
    package struct Control: Sendable, Encodable {
        /// Why the stream cannot be read now; nil while it is read.
        package var detail: String?
        /// How many commands of operators are in force.
        package var inForce: Int

        private enum CodingKeys: String, CodingKey {
            case detail
            case inForce = "in_force"
        }

        /// Makes a state from its parts.
        package init(detail: String? = nil, inForce: Int = 0) {
            self.detail = detail
            self.inForce = inForce
        }
    }

    /// The reason of a worker that finishes its jobs and takes no more.
    static let draining = "draining"

    /// The worker's name.
    package var instance: String
    /// Why the worker is not ready, such as `draining`, `blocked` or `results_full`; empty if it is ready.
    package var reasons: [String]
    /// The connections to the broker; nil before the lane's first turn.
    package var lane: Lane?
    /// The routes.
    package var routes: [Route]
    /// The fleet; nil for a worker whose share of the routes is configured.
    package var fleet: Fleet?
    /// How the worker knows what operators ask for; nil where that is not known.
    package var control: Control?

    /// Whether the worker does its work.
    package var isReady: Bool { reasons.isEmpty }

    private enum CodingKeys: String, CodingKey {
        case ready, instance, reasons, lanes, routes, fleet, control
    }

    /// Makes a state from its parts.
    package init(
        instance: String, reasons: [String], lane: Lane?, routes: [Route], fleet: Fleet? = nil,
        control: Control? = nil
    ) {
        self.instance = instance
        self.reasons = reasons
        self.lane = lane
        self.routes = routes
        self.fleet = fleet
        self.control = control
    }

    /// Writes the state with `ready` first.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isReady, forKey: .ready)
        try container.encode(instance, forKey: .instance)
        try container.encode(reasons, forKey: .reasons)
        try container.encode(lane.map { [$0] } ?? [], forKey: .lanes)
        try container.encode(routes, forKey: .routes)
        try container.encodeIfPresent(fleet, forKey: .fleet)
        try container.encodeIfPresent(control, forKey: .control)
    }
}

extension WorkerReadiness.Route {
    /// The trouble that the log tells of the route, and its reason: of a parked route, and of a ready route whose
    /// publications the broker does not take, or whose pushes something else answers than APNs. Nil for every other route.
    var hindrance: (kind: WorkerReadiness.Hindrance, reason: String)? {
        switch RouteState(rawValue: state) {
        case .parked: (.parked, reason ?? state)
        case .ready: refusal.map { (.refused, $0) } ?? stranger.map { (.displaced, $0) }
        case .probing, .starting, .unreachable, .paused, .unassigned, nil: nil
        }
    }
}
