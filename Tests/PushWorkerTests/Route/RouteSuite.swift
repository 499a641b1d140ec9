import APNSClient
import EventLoop
import PushModel
import Testing
import Topology
import WorkerSettings

@testable import PushWorker
@testable import RabbitMQ

/// A suite about a route without connections, which is given deliveries and asked what became of them.
protocol RouteSuite {}

extension RouteSuite {
    /// When everything happens, in milliseconds since 1970.
    static var wallClock: Int64 { 1_763_712_800_100 }
    /// Writes what the route publishes.
    var renderer: PublicationRenderer {
        PublicationRenderer(tiers: ["2s"], routes: ["app"], worker: "worker-1", includesDeviceToken: false)
    }

    /// A route without connections, for all jobs in development.
    ///
    /// - Parameters:
    ///   - number: The route's number in the worker.
    ///   - position: Its position on the lane.
    ///   - neighbour: The topic of another route of the worker; nil for none.
    ///   - resultsBatch: How many results the configuration wants in a message.
    ///   - open: Gives a destination of the route connections.
    func route(
        number: Int = 0, position: Int = 0, queues: [String] = ["q"], journal: JournalWriter? = nil,
        earlier: Journal? = nil, broadcastHosts: [Destination] = [],
        rate: SendingRate? = nil, neighbour: String? = nil,
        credit: RouteCredit = RouteCredit(fixed: 1, rate: nil), devices: Destination = Destination(.devices),
        resultsBatch: Int = 1, open: @escaping (Route, Destination) -> Void = { _, _ in }
    ) throws -> Route {
        let publisher = Publisher(
            link: { nil }, renderer: renderer, isNoted: { journal?.mayPublish($0) ?? true }, fate: { _, _ in })
        let apps = [("app", "com.example.app")] + (neighbour.map { [("neighbour", $0)] } ?? [])
        let table = RoutesTable(
            routes: apps.map { TopologyRoute(name: $0.0, environment: .development, topics: [$0.1]) })
        return Route(
            name: "app", number: number, position: position, queues: queues, claim: RouteClaim(table: table, index: 0),
            credit: credit, rate: rate,
            surroundings: RouteSurroundings(
                policy: RetryPolicy(), publisher: publisher, replyPattern: try ReplyPattern("^reply$"),
                journal: journal, earlier: earlier, resultsBatch: resultsBatch, open: open),
            devices: devices, broadcastHosts: broadcastHosts)
    }

    /// A delivery in wire form, the first of its channel.
    func delivery(
        returns: Int, acquired: Int? = nil, isRedelivered: Bool? = nil, topic: String = "com.example.app",
        id: String? = "job-1", headers: [(String, String)] = [], padding: String? = nil, exchange: String? = nil,
        routingKey: String? = nil,
        body: String = #"{"id":"job-1","device_tokens":["aa11","bb22"],"payload":{"aps":{}}}"#
    ) -> Delivery {
        func short(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
        func long(_ bytes: [UInt8]) -> [UInt8] { [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes }
        func number(_ name: String, _ number: Int) -> [UInt8] {
            let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return short(name) + [UInt8(ascii: "l")] + bytes
        }
        var table = number("x-delivery-count", returns)
        if let acquired { table += number("x-acquired-count", acquired) }
        for (name, text) in headers { table += short(name) + [UInt8(ascii: "S")] + long(Array(text.utf8)) }
        // Padding goes into correlation_id, reply_to, type and app_id.
        let padded: UInt16 = padding == nil ? 0 : 1 << 10 | 1 << 9 | 1 << 5 | 1 << 3
        let flags: UInt16 = 1 << 15 | 1 << 13 | (id == nil ? 0 : 1 << 7) | padded
        // Only what comes back from a tier has a worker's headers.
        let exchange = exchange ?? (headers.contains { $0.0 == "x-apns-v" } ? "apns.return" : "apns.jobs")
        var bytes = Array(exchange.utf8)
        let exchangeRange = 0..<bytes.count
        bytes += "\(routingKey ?? "development.normal.\(topic)")".utf8
        let key = exchangeRange.upperBound..<bytes.count
        bytes += [UInt8(flags >> 8), UInt8(flags & 255)] + short("application/json") + long(table)
        let filler = padding.map(short) ?? []
        bytes += filler + filler
        if let id { bytes += short(id) }
        bytes += filler + filler
        let properties = key.upperBound..<bytes.count
        bytes += body.utf8
        return Delivery(
            channel: 1, deliveryTag: 1, redelivered: isRedelivered ?? (returns != 0), bytes: bytes,
            exchange: exchangeRange, routingKey: key, properties: properties,
            body: properties.upperBound..<bytes.count, bodySize: UInt64(body.utf8.count), isTruncated: false)
    }

    /// A time in seconds.
    static func moment(_ seconds: UInt64, wall: Int64 = wallClock) -> Moment {
        Moment(monotonic: MonotonicTime(nanoseconds: seconds * 1_000_000_000), wall: wall)
    }

    /// Lets a route take a delivery in, and a suspect at once.
    func take(_ delivery: Delivery, _ route: Route, at seconds: UInt64 = 1) {
        #expect(route.delivered(delivery, at: Self.moment(seconds)))
        // Later than any suspect waits.
        route.arrivals.takeSuspect(at: Self.moment(seconds + 60))
    }

    /// What a broker answers to a method of a route's channel.
    func answer(_ action: RouteConsumer.Action, _ route: Route, at moment: Moment) {
        switch action {
        case .openChannel: route.channel.opened(at: moment)
        case .setPrefetch: route.channel.prefetchSet()
        case .startConsuming: route.channel.consumeStarted(at: moment)
        case .cancelConsuming(let queue):
            route.channel.consumeCancelled(Array(route.channel.consumerTag(queue).utf8))
        case .closeChannel: route.channel.closed(code: 200, text: "closed as asked for", at: moment)
        }
    }

    /// A job of which one notification was sent when its channel was lost.
    func interrupted(_ delivery: Delivery, _ route: Route) throws -> JobInFlight {
        take(delivery, route)
        let job = try #require(route.devices.waiting.first)
        _ = job.next()
        route.channel.generationEnded(at: Self.moment(2))
        return job
    }

    /// Whether a notification is settled without a request.
    func isSettledUnsent(_ notification: PushWorker.Notification, _ route: Route, at moment: Moment) -> Bool {
        if let cleared = route.settlement.clear(notification, on: route.devices, at: moment) {
            _ = consume cleared
            return false
        }
        return true
    }

    /// The jobs whose deliveries are not settled.
    func unsettled(_ route: Route) -> [JobInFlight] {
        var jobs: [JobInFlight] = []
        route.deliveries.ledger.forEach { jobs.append($0) }
        return jobs
    }

    /// The dead letter of the one job that the route refused.
    func deadLetter(_ route: Route) throws -> OutgoingMessage {
        let job = try #require(unsettled(route).first)
        let refusal = try #require(job.refusal)
        #expect(refusal.reason == .poison)
        var message = OutgoingMessage()
        let publication = Publication(job: job, route: route.position, content: .deadLetter(refusal, indexes: nil))
        renderer.render(publication, into: &message)
        return message
    }

    /// A part of a message as text.
    func text(_ range: Range<Int>, in message: OutgoingMessage) -> String {
        String(decoding: message.bytes[range], as: UTF8.self)
    }

    /// A header of a message as text.
    func header(_ name: String, in message: OutgoingMessage) -> String? {
        message.headers.first { text($0.name, in: message) == name }.map { text($0.value, in: message) }
    }
}
