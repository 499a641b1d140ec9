/// The limit that keeps a route from pushing more than it does.
package enum RouteLimit: String, Sendable, CaseIterable {
    /// Every stream that APNs allows is open.
    case streams
    /// The flow-control windows are full: more connections or less distance would help.
    case window
    /// The configured rate, or the worker's part of a rate that operators set for all workers.
    case rate
    /// RabbitMQ: it delivers nothing, or takes and confirms results more slowly than APNs answers.
    case broker
    /// APNs: it cannot be reached, refuses the credential, allows fewer streams than before, or reads slowly.
    case apns
    /// Nothing: every job goes out at once.
    case nothing

    /// The limit of two routes together: of their two limits, the one that is listed first.
    func joined(with other: RouteLimit) -> RouteLimit {
        Self.allCases.first { $0 == self || $0 == other } ?? self
    }
}
