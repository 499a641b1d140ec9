import APNSClient
import EventLoop
import PushModel

/// The hosts that a route sends to: the one for devices, and those for jobs about broadcast channels.
///
/// This class decides which host a job goes to, and does what concerns all hosts. Most routes have no job about
/// broadcast channels at nearly all times. The hosts for such jobs are then left alone.
///
/// A class, because the parts of the route share it. Confined to its lane.
final class RouteHosts {
    /// Where pushes to devices go.
    let devices: Destination
    /// The hosts for jobs about broadcast channels; empty where the configuration names none.
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
    /// Whether there was no connection since the start or the last rest. The job that opens a connection then comes
    /// alone. If no connection can be made, further jobs would be given back and delivered once more each time.
    var areUnconnected: Bool { devices.isUntried && broadcastChannels.allSatisfy { $0.pool == nil } }
    /// Whether notifications wait to be sent to devices, or anything is under way on the other hosts.
    var wantToSend: Bool { devices.hasWaiting || hasBroadcastWork && !broadcastChannels.allSatisfy(\.isQuiet) }

    /// How many streams the connections for devices have, open or free; `RouteCredit.maximum` without a pool, as before
    /// the first connection and after a rest.
    var streams: Int { devices.pool?.streamLimit ?? RouteCredit.maximum }

    /// When time alone gives a host something to do; nil for never. A host for broadcast channels that sleeps does not
    /// count. The route does not look at it, so its time would stay in the past.
    var nextDue: MonotonicTime? {
        guard hasBroadcastWork else { return devices.nextDue }
        let others = broadcastChannels.lazy.compactMap { $0.isAsleep ? nil : $0.nextDue }.min()
        guard let due = devices.nextDue else { return others }
        return min(due, others ?? due)
    }

    // MARK: Jobs

    /// Adds a job to the jobs that wait for its host.
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

    /// The host of a job's operation. A host for broadcast channels is noted as having work, because it is about to get
    /// the job.
    private func host(of job: JobInFlight) -> Destination? {
        let host = self[Destination.Kind(job.job.operation)]
        if host?.isForBroadcastChannels == true { hasBroadcastWork = true }
        return host
    }

    /// The broker's channel is gone. Jobs that were not sent come again.
    func generationEnded() { for host in all { host.generationEnded() } }

    // MARK: Connections

    /// The hosts for broadcast channels were looked at: they may sleep now.
    func advanced() { hasBroadcastWork = broadcastChannels.contains { !$0.isAsleep } }

    /// Closes all connections; open requests get their answers before this returns.
    func close() { for host in all { host.close() } }
}
