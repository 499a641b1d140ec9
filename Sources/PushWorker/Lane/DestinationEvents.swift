import APNSClient
import EventLoop

/// Events of a destination's connections.
final class DestinationEvents: APNSPoolDelegate {
    private unowned let lane: Lane
    private unowned let route: Route
    private unowned let destination: Destination
    private let connector: APNSConnector
    private var random: Randomness
    /// Connects that wait for the pace, by the numbers of their requests. There are at most two: the next one of the
    /// pool, and one that proves a credential.
    private var waiting: [Int: WaitingConnect] = [:]

    /// A connect that waits for the pace.
    private struct WaitingConnect {
        let request: ConnectRequest
        let place: ConnectPlace
        let timer: TimerID
    }

    init(lane: Lane, route: Route, destination: Destination, connector: APNSConnector) {
        self.lane = lane
        self.route = route
        self.destination = destination
        self.connector = connector
        random = lane.surroundings.random
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        route.answered(tag, answer, on: destination, at: Moment(monotonic: now, wall: lane.moment.wall))
        lane.mark(route)
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {
        ask(request, connector.enterLine(urgency(of: pool)))
    }

    func poolWaits(_ pool: APNSPool) {
        guard !waiting.isEmpty else { return }
        let urgency = urgency(of: pool)
        for (_, connect) in waiting.sorted(by: { $0.key < $1.key }) where connect.place.raise(to: urgency) {
            lane.loop.cancel(connect.timer)
            ask(connect.request, connect.place)
        }
    }

    /// Connects as soon as the pace allows. The wait is a timer on the loop: a thread is started, and a name looked up,
    /// only when the connect is due.
    private func ask(_ request: ConnectRequest, _ place: ConnectPlace) {
        waiting[request.id] = nil
        let wait = place.ask(now: lane.now, random: &random)
        guard wait > .zero else { return connect(request) }
        let timer = lane.loop.schedule(at: lane.now.adding(wait)) { [weak self] _ in self?.askAgain(request.id) }
        waiting[request.id] = WaitingConnect(request: request, place: place, timer: timer)
    }

    private func askAgain(_ id: Int) {
        guard let connect = waiting.removeValue(forKey: id), destination.pool?.awaits(connect.request) == true else {
            return
        }
        ask(connect.request, connect.place)
    }

    /// How much a connection is needed: most if jobs wait and no connection is open.
    private func urgency(of pool: APNSPool) -> ConnectUrgency {
        guard destination.hasWaiting else { return .idle }
        return pool.streamLimit > 0 ? .growing : .stranded
    }

    private func connect(_ request: ConnectRequest) {
        let position = route.position
        let kind = destination.kind
        lane.surroundings.connect(connector, request) { [handle = lane.handle] result in
            handle.post(.apnsConnected(route: position, kind, request, Transfer(result)))
        }
        // A name service that hangs has no time limit of its own. Its late answer is ignored.
        let end = lane.now.adding(connector.patience(request))
        _ = lane.loop.schedule(at: end) { [weak self] _ in self?.giveUp(request) }
    }

    private func giveUp(_ request: ConnectRequest) {
        guard destination.awaits(request) else { return }
        let patience = connector.patience(request)
        let failure = APNSClientError(
            .timedOut, "looking up \(connector.endpoint) and connecting took longer than \(patience)")
        lane.handle.post(.apnsConnected(route: route.position, destination.kind, request, Transfer(.failure(failure))))
    }

    func pool(_ pool: APNSPool, credential event: CredentialEvent) {
        lane.credentialEvent(event, of: route, on: destination)
    }

    func poolCapacityChanged(_ pool: APNSPool) {
        destination.capacityChanged(at: lane.moment)
        lane.mark(route)
    }
}
