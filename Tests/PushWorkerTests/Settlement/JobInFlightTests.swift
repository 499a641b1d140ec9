import PushModel
import Testing

@testable import PushWorker

@Suite("A job that is worked on", .timeLimit(.minutes(1)))
struct JobInFlightTests: RouteSuite {
    @Test("Each notification is handed out once and settled once", arguments: [1, 2, 64, 65, 200])
    func once(count: Int) throws {
        let route = try route()
        let tokens = (0..<count).map { "\"aa\(1_000 + $0)\"" }.joined(separator: ",")
        take(delivery(returns: 0, body: #"{"id":"job-1","device_tokens":[\#(tokens)],"payload":{"aps":{}}}"#), route)
        let job = try #require(route.devices.waiting.first)
        var handedOut: [PushWorker.Notification] = []
        while let notification = job.next() { handedOut.append(notification) }
        #expect(handedOut.map(\.index) == Array(0..<count) && job.unsettled == count)
        let settled = handedOut.reversed().map { job.settle($0, at: 1) }
        #expect(!settled.contains(false) && job.isFinished)
        #expect(!handedOut.contains { job.settle($0, at: 2) })
        #expect(job.unsettled == 0 && job.settledAt == 1)
    }

    @Test("A job waits for a message from the moment the message is made, and a message ends once")
    func obligation() throws {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let copy = Publication(job: job, route: 0, content: .retry(tier: 0, attempt: 2, indexes: nil))
        #expect(job.unconfirmed == 1)
        func fulfil() -> Int {
            var count = 0
            copy.takeObligation()?.fulfil { count += $0 === job ? $1 : 0 }
            return count
        }
        #expect(fulfil() == 1 && job.unconfirmed == 0)
        #expect(fulfil() == 0 && job.unconfirmed == 0)
    }

    @Test("A refused job of which no notification could be read has one, so that it gets a result")
    func unread() throws {
        let route = try route()
        take(delivery(returns: 0, body: "no job"), route)
        let job = try #require(unsettled(route).first)
        #expect(job.refusal != nil && job.job.notificationCount == 0 && job.unsettled == 1)
        #expect(job.next()?.index == 0 && job.next() == nil)
    }
}

extension JobInFlight {
    /// Hands out a notification, and those before it.
    func next(_ index: Int) throws -> PushWorker.Notification {
        var latest = next()
        while let notification = latest, notification.index < index { latest = next() }
        return try #require(latest)
    }
}
