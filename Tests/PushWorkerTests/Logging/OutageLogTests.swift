import APNSClient
import EventLoop
import Logging
import RabbitMQ
import Testing

@testable import PushWorker

@Suite("What the log tells of an outage", .timeLimit(.minutes(1)))
struct OutageLogTests {
    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(Int64(seconds * 1_000))
    }

    @Test("The first failure is told, then one a minute, and the end with its length")
    func reminders() {
        var log = OutageLog()
        var told: [Int] = []
        for second in 0..<150 where log.failed("refused", now: Self.at(Double(second))) == .warning {
            told.append(second)
        }
        #expect(told == [0, 60, 120])
        #expect(log.works(now: Self.at(150.26))?.text == "after 150s and 150 failures")
        #expect(log.works(now: Self.at(151)) == nil)
        #expect(log.failed("refused", level: .error, now: Self.at(152)) == .error, "the next outage is news")
        #expect(log.works(now: Self.at(152.5))?.text == "after 500ms and 1 failure")
    }

    @Test("Another kind of failure is told at once")
    func kinds() {
        var log = OutageLog()
        let levels = ["refused", "refused", "no route", "refused"].map { log.failed($0, now: Self.at(1)) }
        #expect(levels == [.warning, .debug, .warning, .warning])
    }

    @Test("The same failure at another address of a host, or at another broker of a cluster, is not told again")
    func addresses() {
        var log = OutageLog()
        let apns = ["17.1.1.1:443", "17.1.1.2:443"].map { APNSClientError(.unreachable, "connecting to \($0) failed") }
        let levels = apns.map { log.failed($0.code.description, now: Self.at(1)) }
        #expect(levels == [.warning, .debug])
        let again = log.note(failure: (apns[0].code.description, apns[0].message), now: Self.at(2))
        #expect(again == .failed(apns[0].message, .debug), "the text is that of the failure")
        let brokers = ["a (10.0.0.1:5672)", "b (10.0.0.2:5672)"].map {
            AMQPError(.connectionLost, "the connection to \($0) is lost")
        }
        #expect(brokers[0].kind == brokers[1].kind)
        let closed = [320, 530].map { AMQPError(.connectionClosed, "", replyCode: $0).kind }
        #expect(closed[0] != closed[1])
    }

    @Test("Success is told once after a failure, and only then")
    func news() {
        var log = OutageLog()
        #expect(log.note(failure: nil, now: Self.at(1)) == nil)
        #expect(log.note(failure: ("refused", "refused by x"), now: Self.at(2)) == .failed("refused by x", .warning))
        #expect(log.note(failure: ("refused", "refused by x"), now: Self.at(3)) == .failed("refused by x", .debug))
        let over = OutageLog.Ended(duration: .seconds(2), failures: 2)
        #expect(log.note(failure: nil, now: Self.at(4)) == .works(over))
        #expect(log.note(failure: nil, now: Self.at(5)) == nil)
    }
}
