import RabbitMQ
import Testing

@testable import MartletCommands

@Suite("A message that the broker cannot deliver", .timeLimit(.minutes(1)))
struct UndeliverableTests {
    @Test(
        "The failure names the queue, the place and the way out",
        arguments: [(0, "among the first of apns.q.dead"), (12, "in apns.q.dead behind at least 12 others")])
    func text(count: Int, place: String) {
        let error = AMQPError(.connectionClosed, "the broker closed the connection: INTERNAL_ERROR", replyCode: 541)
        let failure = CommandConnection.undeliverable(behind: count, in: "apns.q.dead", error, at: "amqp://host")
        #expect(failure.status == .refused && failure.message.contains(place))
        #expect(failure.message.contains("INTERNAL_ERROR"))
        #expect(failure.remedy?.contains("AMQP 1.0 client") == true)
    }
}
