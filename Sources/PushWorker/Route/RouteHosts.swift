import APNSClient
import EventLoop
import PushModel

/// The hosts that a route sends to: the one for devices, and those for jobs about broadcast channels. Which of them a
/// job goes to is decided here, and here is what all of them do alike.
///
/// Nearly every route has no job about broadcast channels at all times, so nobody looks at the hosts for them then.
///
/// A class, because the parts of the route share it. Confined to its lane.
final class RouteHosts {
    /// Where pushes to devices go.
    let devices: Destination
    /// Where jobs about broadcast channels go, as far as the configuration names any host for them.
    let broadcastChannels: [Destination]
    /// All hosts, the one for devices first.
    let all: [Destination]
    /// Whether a host for broadcast channels has work or a connection.
    private(set) var hasBroadcastWork = false

    /// Hosts without work.
    ///
    /// - Parameters:
    ///   - devices: Where pushes to devices go.
    ///   - broadcastChannels: Where jobs about broadcast channels go.
    init(_ devices: Destination, broadcastChannels: [Destination]) {
        self.devices = devices
        self.broadcastChannels = broadcastChannels
        all = [devices] + broadcastChannels
    }

    /// One of the hosts; nil where the configuration does not name it.
    subscript(_ kind: Destination.Kind) -> Destination? {
        kind == .devices ? devices : broadcastChannels.first { $0.kind == kind }
    }

    /// Whether no request is open, and nothing waits to be sent.
    var areQuiet: Bool { devices.isQuiet && (!hasBroadcastWork || broadcastChannels.allSatisfy(\.isQuiet)) }
    /// Whether nothing is under way. Jobs about broadcast channels that wait for the next probe after a refusal do not
    /// count.
    var areStill: Bool { devices.isStill && (!hasBroadcastWork || broadcastChannels.allSatisfy(\.isStill)) }
    /// Whether no connection was opened yet, or all rest. The job that opens one comes alone. Further jobs would be given
    /// back where no connection can be had, and be delivered once more each time.
    var areUnconnected: Bool { devices.isUntried && broadcastChannels.allSatisfy { $0.pool == nil } }
    /// Whether notifications wait to be sent to devices, or anything is under way on the other hosts.
    var wantToSend: Bool { devices.hasWaiting || hasBroadcastWork && !broadcastChannels.allSatisfy(\.isQuiet) }

    /// How many streams the connections for devices have, open or free; the most before the first connection.
    var streams: Int { devices.pool?.streamLimit ?? RouteCredit.maximum }

    /// When time alone gives one of them something to do. Nobody looks at a host for broadcast channels that sleeps, so
    /// its time would stay in the past.
    var nextDue: MonotonicTime? {
        guard hasBroadcastWork else { return devices.nextDue }
        let others = broadcastChannels.lazy.compactMap { $0.isAsleep ? nil : $0.nextDue }.min()
        guard let due = devices.nextDue else { return others }
        return min(due, others ?? due)
    }

    // MARK: Jobs

    /// Lets a job wait for the host that it asks something of.
    ///
    /// - Returns: Whether the configuration names the host.
    func take(_ job: JobInFlight) -> Bool {
        guard let host = host(of: job) else { return false }
        host.take(job)
        return true
    }

    /// Goes on with a job whose channel was gone and which the broker delivered again.
    ///
    /// - Returns: Whether the configuration names the host.
    func resume(_ job: JobInFlight) -> Bool {
        guard let host = host(of: job) else { return false }
        host.resume(job)
        return true
    }

    /// The host that a job is about to be given to.
    private func host(of job: JobInFlight) -> Destination? {
        let host = self[Destination.Kind(job.job.operation)]
        if host?.isForBroadcastChannels == true { hasBroadcastWork = true }
        return host
    }

    /// Drops what was not sent of a job, until the broker delivers the job again.
    func drop(_ job: JobInFlight) { self[Destination.Kind(job.job.operation)]?.drop { $0 === job } }

    /// The broker's channel is gone. Jobs that were not sent come again, except for those to which another lane lent a
    /// delivery.
    func generationEnded() { for host in all { host.generationEnded() } }

    // MARK: Connections

    /// The hosts for broadcast channels were looked at: they may sleep now.
    func advanced() { hasBroadcastWork = broadcastChannels.contains { !$0.isAsleep } }

    /// Closes all connections; open requests get their answers before this returns.
    func close() { for host in all { host.close() } }
}
