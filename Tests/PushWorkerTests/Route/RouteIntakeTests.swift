import APNSClient
import Dispatch
import EventLoop
import LocalStack
import PushModel
import TestSupport
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("What a route does with a job that came back often", .timeLimit(.minutes(1)))
struct RouteIntakeTests: RouteSuite {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(prefix: "martlet-intake") }

    @Test("The dead letter of an unread job has the id its producer gave it, or none", arguments: ["job-1", nil])
    func deadLetterID(id: String?) throws {
        let route = try route()
        let delivery = delivery(returns: 20, id: id)
        take(delivery, route)
        let message = try deadLetter(route)
        #expect(text(message.text(of: .messageID), in: message) == id ?? "")
        #expect(Array(message.bytes[message.body]) == Array(delivery.bytes[delivery.body]))
        #expect(header("x-delivery-count", in: message) == nil && header("x-apns-reason", in: message) == "Poison")
    }

    @Test("The dead letter of an unread copy about some device tokens is about the same ones")
    func deadLetterIndexes() throws {
        let route = try route()
        take(delivery(returns: 20, headers: [("x-apns-v", "1"), ("x-apns-indexes", "1")]), route)
        let message = try deadLetter(route)
        #expect(header("x-apns-indexes", in: message) == "1" && header("x-apns-v", in: message) == nil)
    }

    @Test(
        "The producer's own headers are limited, however many of others' came beside them, and whoever had the job",
        arguments: [0, 1].flatMap { returns in
            [nil, "x-apns-v", "x-death"].flatMap { [(returns, $0, 0, true), (returns, $0, 1, false)] }
        } as [(returns: Int, addition: String?, excess: Int, isTaken: Bool)])
    func grownHeaders(returns: Int, addition: String?, excess: Int, isTaken: Bool) throws {
        let route = try route()
        // The name and what belongs to a value have 9 bytes.
        let own = String(repeating: "x", count: FieldTableReader.maximumSize - 9 + excess)
        take(delivery(returns: returns, headers: (addition.map { [($0, "1")] } ?? []) + [("own", own)]), route)
        #expect(route.devices.hasWaiting == isTaken)
        guard isTaken else {
            let detail = try #require(route.outbox.refused.first?.refusal?.detail)
            #expect(detail == "the header table has 32769 bytes, over 32768; the largest is own with 32769")
            return
        }
        let job = try #require(route.devices.waiting.first)
        var message = OutgoingMessage()
        let copy = Publication.Content.retry(tier: 0, attempt: 2, indexes: nil)
        renderer.render(Publication(job: job, route: route.position, content: copy), into: &message)
        #expect(header("own", in: message) == own)
    }

    @Test("What is published about a job fits the smallest frame that is worked with, its producer's headers apart")
    func largestProperties() throws {
        let route = try route()
        let longest = String(repeating: "x", count: 255)
        let tokens = Array(repeating: "\"aa11\"", count: Job.maximumTokens).joined(separator: ",")
        let body = #"{"device_tokens":[\#(tokens)],"payload":{"aps":{}}}"#
        take(delivery(returns: 0, id: nil, padding: longest, body: body), route)
        let job = try #require(unsettled(route).first)
        let detail = String(repeating: "y", count: 5_000)
        let report = FinalReport(
            .invalid, .fixRequest, status: 400, reason: Reason(rawValue: longest), detail: detail)
        // Two of three: nothing takes more room.
        let indexes = (0..<Job.maximumTokens).filter { $0 % 3 != 2 }
        let renderer = PublicationRenderer(
            tiers: [longest], routes: ["app"], worker: longest, includesDeviceToken: false)
        for content in [
            Publication.Content.deadLetter(report, indexes: indexes), .retry(tier: 0, attempt: 1, indexes: indexes),
        ] {
            var message = OutgoingMessage()
            renderer.render(
                Publication(job: job, route: route.position, content: content), into: &message,
                shortened: true)
            #expect(message.headers.contains { text($0.name, in: message) == "x-apns-indexes" })
            #expect((3_000...AMQPSession.smallestFrameMax - 20).contains(message.propertyBytes), "\(content)")
        }
    }

    @Test("A job that this process is still working on is taken over, however often it came back")
    func remembered() throws {
        let route = try route()
        let job = try interrupted(delivery(returns: 9), route)
        // On 90 channels it may have been held, and lost with them; this is the next one.
        // A minute lies between two of them: a loss counts for no longer.
        for number in 0..<90 { loseSuspect(returns: 9, route, at: 2 + 61 * UInt64(number)) }
        take(delivery(returns: 100), route, at: 2 + 61 * 90)
        #expect(unsettled(route).first === job && route.tally.counters.duplicatesSuppressed == 2)
        #expect((0..<2).map(job.isSuppressed) == [true, false])
    }

    /// A suspect of another job is held, and lost with its channel.
    private func loseSuspect(returns: Int, _ route: Route, at seconds: UInt64 = 2) {
        route.channel.opened(at: Self.moment(seconds))
        #expect(route.delivered(delivery(returns: returns, id: "other"), at: Self.moment(seconds)))
        route.channel.generationEnded(at: Self.moment(seconds))
    }

    @Test("A job that another worker had in between is pushed, for that one may have pushed it and died")
    func elsewhere() throws {
        let route = try route()
        let job = try interrupted(delivery(returns: 0), route)
        // One channel was lost, and others that delivered nothing: two returns are one too many.
        for _ in 0..<3 { route.channel.opened(at: Self.moment(2)) }
        take(delivery(returns: 2), route, at: 3)
        let again = try #require(route.devices.waiting.first)
        #expect(again !== job && again.isRedelivered && route.tally.counters.duplicatesSuppressed == 0)
    }

    @Test("A job is pushed or refused whatever its producer writes as the count", arguments: [Int.min, -1, .max])
    func oddCount(count: Int) throws {
        let route = try route()
        for returns in [count, .max, .min, 1] {
            take(delivery(returns: returns), route)
            if let job = route.devices.waiting.first { _ = job.next() }
            route.channel.generationEnded(at: Self.moment(1))
        }
        #expect(route.tally.counters.jobsReceived == 4)
    }

    @Test("A suspect that this worker gave back itself was not elsewhere")
    func suspectHandedBack() throws {
        let route = try route()
        let job = try interrupted(delivery(returns: 2), route)
        // It came with 3 returns, was held, and went back.
        loseSuspect(returns: 3, route)
        take(delivery(returns: 4), route, at: 3)
        #expect(route.devices.waiting.first === job && route.tally.counters.duplicatesSuppressed == 2)
    }

    @Test("A suspect that was lost with its channel was not elsewhere")
    func suspectLost() throws {
        let route = try route()
        let job = try interrupted(delivery(returns: 2), route)
        #expect(route.delivered(delivery(returns: 3), at: Self.moment(3)))
        #expect(route.deliveries.intake.hasSuspects, "it waits to be taken up alone")
        route.channel.generationEnded(at: Self.moment(3))
        take(delivery(returns: 4), route, at: 4)
        #expect(route.devices.waiting.first === job && route.tally.counters.duplicatesSuppressed == 2)
    }

    @Test(
        "A job that came back because channels were lost here is not a suspect for a while; what others lost counts",
        arguments: [(3, 3, 5, false), (9, 11, 5, false), (9, 12, 5, true), (0, 3, 5, true), (3, 3, 63, true)]
            as [(Int, Int, UInt64, Bool)])
    func outlived(_ row: (lost: Int, returns: Int, seconds: UInt64, isSuspect: Bool)) throws {
        let route = try route()
        for _ in 0..<row.lost {
            route.channel.opened(at: Self.moment(2))
            #expect(route.delivered(delivery(returns: 0, id: "another"), at: Self.moment(2)))
            route.channel.closed(code: 406, text: "", at: Self.moment(3))
        }
        route.channel.opened(at: Self.moment(4))
        #expect(route.delivered(delivery(returns: row.returns), at: Self.moment(row.seconds)))
        #expect(route.deliveries.intake.hasSuspects == row.isSuspect)
    }

    @Test("A channel that was lost before anything came on it brought nothing back")
    func nothingDelivered() throws {
        let route = try route()
        for _ in 0..<5 {
            route.channel.opened(at: Self.moment(2))
            route.channel.closed(code: 404, text: "", at: Self.moment(3))
        }
        route.channel.opened(at: Self.moment(4))
        #expect(route.delivered(delivery(returns: 3), at: Self.moment(5)))
        #expect(route.deliveries.intake.hasSuspects)
    }

    @Test("What its queue may soon give up is refused with a result, whatever was lost here")
    func mostReturns() throws {
        let route = try route()
        for _ in 0..<40 {
            route.channel.opened(at: Self.moment(2))
            #expect(route.delivered(delivery(returns: 0, id: "another"), at: Self.moment(2)))
            route.channel.closed(code: 406, text: "", at: Self.moment(3))
        }
        route.channel.opened(at: Self.moment(4))
        take(delivery(returns: 40, id: nil), route, at: 5)
        #expect(unsettled(route).first?.refusal?.reason == .poison)
    }

    @Test("A job is not refused for channels that were lost here")
    func outlivedOften() throws {
        let route = try route()
        for _ in 0..<10 {
            route.channel.opened(at: Self.moment(2))
            #expect(route.delivered(delivery(returns: 0, id: "another"), at: Self.moment(2)))
            route.channel.closed(code: 406, text: "", at: Self.moment(3))
        }
        route.channel.opened(at: Self.moment(4))
        take(delivery(returns: 29), route, at: 5)
        #expect(route.devices.waiting.count == 1)
        route.channel.closed(code: 406, text: "", at: Self.moment(6))
        route.channel.opened(at: Self.moment(6))
        take(delivery(returns: 31, id: "job-2"), route, at: 7)
        #expect(route.devices.waiting.isEmpty)
        #expect(unsettled(route).first?.refusal?.reason == .poison)
    }

    @Test("A job that another worker had in between is pushed, though channels came and delivered something meanwhile")
    func elsewhereMeanwhile() throws {
        let route = try route()
        let job = try interrupted(delivery(returns: 0), route)
        // The other worker has it now. Here two channels deliver other jobs and are lost.
        for (number, seconds) in [(2, 3), (3, 4)] as [(Int, UInt64)] {
            take(delivery(returns: 0, id: "job-\(number)"), route, at: seconds)
            route.channel.generationEnded(at: Self.moment(seconds))
        }
        // Then the other worker dies, too.
        take(delivery(returns: 2), route, at: 5)
        let again = try #require(route.devices.waiting.first)
        #expect(again !== job && again.isRedelivered && route.tally.counters.duplicatesSuppressed == 0)
    }

    @Test("The rest of a begun job whose time is over is reported so, though nothing can be sent")
    func splitExpired() throws {
        let route = try route()
        let body = #"{"device_tokens":["aa11","bb22","cc33"],"payload":{"aps":{}},"expiration":1763712801}"#
        take(delivery(returns: 0, body: body), route)
        let job = try #require(route.devices.waiting.first)
        _ = job.next()
        let leaving = LaneCondition(isDraining: true, isLeaving: true)
        route.backlog.splitBegun(at: Self.moment(2, wall: 1_763_712_800_900), leaving)
        #expect(route.devices.waiting.first === job && job.unsettled == 3, "no tier brings it back in time")
        route.backlog.splitBegun(at: Self.moment(2, wall: 1_763_712_801_100), leaving)
        #expect(route.devices.waiting.isEmpty && job.unsettled == 1)
        #expect(route.tally.counters.outcomes.refused.entries.contains { $0.kind == .expired && $0.count == 2 })
    }

    @Test("A route follows another rate, and none: its prefetch does, too")
    func rates() throws {
        let route = try route(
            rate: SendingRate(perSecond: 60), credit: RouteCredit(fixed: nil, rate: 60))
        for _ in 0..<300 { route.prefetch.arrived(.normal, notifications: 1, bytes: 500) }
        #expect((299...300).contains(route.prefetch.credit.wanted(streams: 1_000, share: .max)))
        route.limit(to: SendingRate(perSecond: 30))
        #expect(route.rates.current?.perSecond == 30)
        #expect((149...150).contains(route.prefetch.credit.wanted(streams: 1_000, share: .max)))
        route.limit(to: nil)
        #expect(route.rates.current == nil && route.prefetch.credit.wanted(streams: 1_000, share: .max) == 1_500)
    }

    @Test("The rest of a job that a rate keeps for long goes on as a copy", arguments: [0.01, nil])
    func slow(rate: Double?) throws {
        let route = try route(rate: rate.map { SendingRate(perSecond: $0) })
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        route.backlog.splitSlow(at: Self.moment(1))
        #expect(job.groups.isEmpty && !route.devices.waiting.isEmpty, "it was not begun")
        _ = job.next()
        let hold = UInt64(SlowJobs.longestHold.components.seconds)
        for seconds in [10, 9 + hold] {
            route.backlog.splitSlow(at: Self.moment(seconds))
            #expect(!route.devices.waiting.isEmpty)
        }
        route.backlog.splitSlow(at: Self.moment(10 + hold))
        #expect(route.devices.waiting.isEmpty == (rate != nil))
        #expect(job.groups.map(\.indexes) == (rate == nil ? [] : [[1]]))
        #expect(job.groups.map(\.purpose) == (rate == nil ? [] : [.retry(tier: 0, attempt: 1, wasAttempted: false)]))
    }

    @Test("A job whose id another one had, with a body of the same length, is not taken for it")
    func reusedID() throws {
        let route = try route()
        let bodies = [1, 2].map { #"{"device_token":"aa11","payload":{"aps":{"badge":\#($0)}}}"# }
        _ = try interrupted(delivery(returns: 0, body: bodies[0]), route)
        route.channel.opened(at: Self.moment(2))
        take(delivery(returns: 1, body: bodies[1]), route, at: 3)
        #expect(
            route.devices.waiting.count == 1 && route.tally.counters.duplicatesSuppressed == 0, "it was never pushed")
        var again = delivery(returns: 1, body: bodies[0])
        again.deliveryTag = 2
        take(again, route, at: 3)
        #expect(route.devices.waiting.count == 1 && route.tally.counters.duplicatesSuppressed == 1)
    }

    @Test("A refused job of many notifications becomes results only as far as these find their way out")
    func refusedMulticast() throws {
        let route = try route()
        let tokens = Array(repeating: "\"aa11\"", count: 1_000).joined(separator: ",")
        let body = #"{"device_tokens":[\#(tokens)],"payload":{"aps":{}},"priority":7}"#
        take(delivery(returns: 0, body: body), route)
        let job = try #require(route.outbox.refused.first)
        #expect(job.unsettled == 1_000 && !route.isQuiet, "there is no channel for results")
        let publisher = route.surroundings.publisher
        publisher.confirmsSelected(1)
        route.settlement.reportRefused(at: Self.moment(1))
        #expect(job.unsettled == 1_000 - RefusedJobs.window && !publisher.isCongested, "pushes go on")
        for publication in publisher.unsent.prefix(28) { route.published(publication, .confirmed, at: Self.moment(1)) }
        #expect(route.waitsForPublisher && route.mayGoOn, "there is room again")
        route.settlement.reportRefused(at: Self.moment(1))
        #expect(job.unsettled == 1_000 - RefusedJobs.window - 28, "as many as were confirmed follow")
        #expect(!route.mayGoOn, "the rest waits for confirms")
        var second = delivery(returns: 0, id: "job-2", body: body)
        second.deliveryTag = 2
        take(second, route)
        #expect(route.outbox.refused.count == 2 && route.outbox.refused.last?.unsettled == 1_000)
        route.channel.generationEnded(at: Self.moment(2))
        #expect(route.outbox.refused.isEmpty && route.isQuiet)
    }

    @Test("A stopped route hands back a window, and keeps what was delivered for its probes, one of each queue")
    func keepsProbes() throws {
        let route = try route(queues: ["q", "q.high"])
        route.devices.breaker.credentialRefused(now: 0)
        route.devices.breaker.tick(now: 0)
        for tag in 1...3 {
            var next = delivery(
                returns: 0, id: "job-\(tag)", body: #"{"device_token":"aa11","payload":{"aps":{}}}"#)
            next.deliveryTag = UInt64(tag)
            take(next, route)
        }
        #expect(!route.backlog.shouldHandBack)
        route.devices.breaker.tick(now: 0 + RouteBreaker.handBackDelay)
        #expect(route.backlog.shouldHandBack)
        _ = route.devices.next()
        #expect(!route.backlog.shouldHandBack)
        // Nobody tries anything while there is no connection, or no credential in its time.
        route.devices.breaker.isHeld = true
        #expect(route.backlog.shouldHandBack)
        route.devices.breaker.isHeld = false
        let lost: MonotonicTime = 0 + RouteBreaker.handBackDelay
        route.devices.breaker.connectivityChanged(isConnected: false, now: lost)
        #expect(!route.backlog.shouldHandBack)
        route.devices.breaker.tick(now: lost + RouteBreaker.disconnectGrace)
        #expect(route.backlog.shouldHandBack)
    }

    @Test("A route that probes asks for a job only where it has none")
    func oneProbe() throws {
        let route = try route(queues: ["q", "q.high"])
        route.devices.breaker.credentialRefused(now: 0)
        route.devices.breaker.tick(now: 0 + RouteBreaker.firstProbeDelay)
        route.updateIntake(LaneCondition())
        #expect(route.channel.consumer.wantedPrefetch == 1)
        take(delivery(returns: 0), route)
        route.updateIntake(LaneCondition())
        #expect(route.channel.consumer.wantedPrefetch == 0)
        let probe = try #require(route.devices.next())
        while route.devices.next() != nil {}
        let tag = route.devices.began(probe)
        route.updateIntake(LaneCondition())
        #expect(route.channel.consumer.wantedPrefetch == 0)
        _ = route.devices.answered(tag, isHeard: true)
        route.updateIntake(LaneCondition())
        #expect(route.channel.consumer.wantedPrefetch == 1)
    }

    @Test("A request about broadcast channels that APNs does not take is sent again at once, a hundred times")
    func channelRefusals() throws {
        let connector = APNSConnector(
            endpoint: APNSEndpoint(host: "127.0.0.1", port: 1), trust: try ThrowawayCertificates().clientContext(),
            limiter: ConnectRateLimiter())
        let host = Destination(.broadcast, connector: connector)
        let route = try route(broadcastHosts: [host])
        route.channel.connected()
        #expect(route.turn(at: Self.moment(1), LaneCondition()) == [.openChannel])
        route.channel.opened(at: Self.moment(1))
        take(
            delivery(
                returns: 0,
                body: #"{"operation":"broadcast","channel_id":"dHN0LXNyY2gtY2hubA==","payload":{"aps":{}}}"#), route)
        var requests = 0
        while let notification = host.next() {
            requests += 1
            route.answered(host.began(notification), .unprocessed, on: host, at: Self.moment(1))
        }
        #expect(requests == RetryPolicy.maximumRefusals + 1)
        let job = try #require(unsettled(route).first)
        #expect(job.unsettled == 0 && job.unconfirmed == 1)
    }

    @Test("A job that the journal knows is read, and reported as pushed where it was; others are refused")
    func journalled() throws {
        let first = try route()
        take(delivery(returns: 0), first)
        let job = try #require(first.devices.waiting.first)
        let key = try #require(job.next(0).journalKey)
        var note: [UInt8] = []
        JournalRecord(key: key, finishedAt: Self.wallClock, apnsMilliseconds: 41).append(to: &note)
        var file = JournalFile(directory: directory.path)
        let isWritten = file.append(note, now: 1)
        #expect(isWritten)

        let earlier = try Journal(directory.path, now: Self.wallClock)
        for (returns, id) in [(20, "job-2"), (25, "job-1")] {
            let route = try route(earlier: earlier)
            take(delivery(returns: returns, id: id), route)
            #expect(unsettled(route).map(\.refusal?.reason) == [.poison], "\(id)")
        }
        let route = try route(earlier: earlier)
        take(delivery(returns: 20), route)
        let again = try #require(route.devices.waiting.first)
        #expect(again.refusal == nil)
        let known = try (0..<2).map {
            isSettledUnsent(try again.next($0), route, at: Self.moment(1))
        }
        #expect(known == [true, false])
        #expect(again.unsettled == 1 && !again.isSuppressed(0), "the other one is pushed, and its result says nothing")
    }

    @Test("What was accepted is reported once it is noted in the journal; nothing else waits for that")
    func notes() throws {
        let (disk, wakes) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writer = JournalWriter(directory: directory.path, pause: { disk.wait() }, wake: { wakes.signal() })
        let route = try route(journal: writer)
        let publisher = route.surroundings.publisher
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let now = MonotonicTime(nanoseconds: 1)
        for (index, response) in [APNSResponse(status: 200), APNSResponse(status: 410, reason: .unregistered)]
            .enumerated()
        {
            route.settlement.settle(
                try job.next(index), .response(response.answer), on: route.devices, response,
                at: Moment(monotonic: now, wall: Self.wallClock))
        }
        #expect(writer.flush(now: now) == nil)
        publisher.publish(now: now)
        #expect(publisher.unnotedCount == 1 && !publisher.isIdle)
        disk.signal()
        // One when the file is open, one when the note is written.
        for _ in 0..<2 { wakes.wait() }
        #expect(writer.flush(now: now) == nil && writer.written == 1)
        publisher.publish(now: now)
        #expect(publisher.unnotedCount == 0 && !publisher.isIdle, "without a connection it waits for the broker")
    }

    @Test("A notification that is sent again is counted with what ended its attempt, and a final one is not")
    func repeats() throws {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        for (index, status) in [503, 200].enumerated() {
            let response = APNSResponse(status: status, reason: status == 503 ? .serviceUnavailable : nil)
            route.settlement.settle(
                try job.next(index), .response(response.answer), on: route.devices, response,
                at: Self.moment(2))
        }
        let counted = route.tally.counters.repeats.entries.map {
            "\($0.kind.way) \($0.kind.status) \($0.reason) \($0.count)"
        }
        #expect(counted == ["retry 503 ServiceUnavailable 1"])
    }

    @Test("A result says that a duplicate was suppressed where its own notification was, and nowhere else")
    func duplicates() throws {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let marked = [false, true].map { isSuppressed in
            let content = ResultContent(
                report: FinalReport(.accepted, .none, status: 200), finishedAt: Self.wallClock,
                isSuppressed: isSuppressed)
            var message = OutgoingMessage()
            let publication = Publication(job: job, route: route.position, content: .result(index: 1, content))
            renderer.render(publication, into: &message)
            return header("x-apns-duplicate", in: message)
        }
        #expect(marked == [nil, "suppressed"])
    }
}
