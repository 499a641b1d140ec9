import PushWorker
import Topology

// A status for programs. The names are part of the contract: add names, but do not change any.
extension StatusFacts {
    /// The whole status as one object.
    ///
    /// - Parameter findings: What needs a person.
    func json(_ findings: [StatusFinding]) -> JSON {
        .object([
            ("at", .integer(at)),
            (
                "broker",
                .object([
                    ("management", .text(place)), ("virtual_host", .text(virtualHost)),
                    ("version", .optional(activity.version)),
                    ("nodes", activity.nodes.map { .array($0.map(\.json)) } ?? .null),
                ])
            ),
            ("queues", .array(activity.queues.map(\.json))),
            ("workers", .array(fleet.workers(at: at).map { $0.json(at: at) })),
            ("workers_trouble", .optional(fleetTrouble)),
            ("routes", .array(fleet.routes(at: at).map(\.json))),
            ("control", .array(control.standing(at: at).map { .verbatim($0.json) })),
            ("control_trouble", .optional(controlTrouble)),
            ("held", .array(holdingQueues.map(\.heldJSON))),
            (
                "dead_letters",
                .array(
                    deadLetters.map { queue, count in
                        let reasons = letters?.filter { $0.queue == queue }.map(\.json)
                        return .object([
                            ("queue", .text(queue)), ("count", .optional(count.map(Int64.init))),
                            ("reasons", reasons.map { .array($0) } ?? .null),
                        ])
                    })
            ),
            ("failures", .array(fleet.failures(at: at).map(\.json))),
            ("findings", .array(findings.map(\.json))),
        ])
    }
}

extension JSON {
    /// A number with a fraction, or `null` without one.
    fileprivate static func optional(_ number: Double?) -> JSON { number.map { .number($0) } ?? .null }

    /// A number, or `null` without one.
    fileprivate static func optional(_ number: Int?) -> JSON { .optional(number.map(Int64.init)) }

    /// A truth value, or `null` where it is not known.
    fileprivate static func optional(_ truth: Bool?) -> JSON { truth.map { .boolean($0) } ?? .null }
}

extension BrokerActivity.Node {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("running", .optional(isRunning)), ("memory_alarm", .optional(hasMemoryAlarm)),
            ("disk_alarm", .optional(hasDiskAlarm)), ("memory_bytes", .optional(memory)),
            ("memory_limit_bytes", .optional(memoryLimit)), ("disk_free_bytes", .optional(freeDisk)),
        ])
    }
}

extension BrokerActivity.Queue {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("kind", .optional(kind)), ("state", .optional(state)),
            ("leader", .optional(leader)),
            ("members", members.map { .array($0.map { .text($0) }) } ?? .null),
            ("ready", .optional(ready)), ("unacknowledged", .optional(unacknowledged)),
            ("consumers", .optional(consumers)), ("bytes", .optional(bytes)), ("limit_bytes", .optional(byteLimit)),
            ("in_per_s", .optional(publishRate)), ("out_per_s", .optional(deliveryRate)),
        ])
    }
}

extension BrokerActivity.Queue {
    /// How many jobs wait for their time, how long their bodies are, and how long they may be.
    fileprivate var heldJSON: JSON {
        .object([
            ("queue", .text(name)), ("count", .optional(ready)), ("bytes", .optional(bytes)),
            ("limit_bytes", .optional(byteLimit)),
        ])
    }
}

extension FleetPicture.Worker {
    fileprivate func json(at now: Int64) -> JSON {
        let state = condition(at: now) == .notReady ? "not_ready" : condition(at: now).rawValue
        return .object([
            ("instance", .text(report.instance)), ("version", .text(report.program)), ("state", .text(state)),
            ("reasons", .array(report.reasons.map { .text($0) })), ("share", .text(report.share)),
            ("admin", .optional(report.admin)),
            ("started_at", .integer(report.startedAt)), ("reported_at", .integer(reportedAt)),
            ("accepted", .integer(Int64(report.accepted))), ("accepted_per_s", .optional(acceptedPerSecond)),
            ("in_flight", .integer(Int64(report.inFlight))),
            ("routes", .integer(Int64(report.routes.count + report.moreRoutes))),
        ])
    }
}

extension FleetPicture.Route {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("state", .text(state)), ("reason", .optional(reason)),
            ("limited_by", .array(limits.map { .text($0) })), ("workers", .array(workers.map { .text($0) })),
            ("not_ready_in", .array(troubled.map { .text($0) })), ("accepted_per_s", .optional(acceptedPerSecond)),
            ("in_flight", .integer(Int64(inFlight))), ("waiting", .integer(Int64(waiting))),
            ("connections", .integer(Int64(connections))), ("holds_tokens", .boolean(holdsTokens)),
        ])
    }
}

extension StatusFacts.Letters {
    fileprivate var json: JSON {
        .object([("outcome", .text(outcome)), ("reason", .optional(reason)), ("count", .integer(Int64(count)))])
    }
}

extension WorkerReport.Failure {
    fileprivate var json: JSON {
        .object([("outcome", .text(outcome)), ("reason", .optional(reason)), ("count", .integer(Int64(count)))])
    }
}

extension StatusFinding {
    fileprivate var json: JSON {
        .object([
            ("urgency", .text(urgency.rawValue)), ("object", .text(object)), ("detail", .text(detail)),
            ("next", .text(next)),
        ])
    }
}
