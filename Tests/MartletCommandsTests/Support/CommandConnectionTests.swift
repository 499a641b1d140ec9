import RabbitMQ
import Testing

@testable import MartletCommands

@Suite("What a failure of the broker means for a command", .timeLimit(.minutes(1)))
struct CommandConnectionTests {
    private func failure(_ text: String, _ code: UInt16) -> CommandFailure {
        CommandConnection.failure(
            AMQPError(.channelClosed, "consuming: \(text)", replyCode: code), at: "amqp://u@h:5672/")
    }

    @Test("Messages that were held for too long have a remedy of their own")
    func consumerTimeout() {
        let late = failure(
            "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. "
                + "This timeout value can be configured, see consumers doc guide to learn more", 406)
        #expect(late.status == .gaveUp)
        #expect(late.remedy?.contains("consumer_timeout") == true && late.remedy?.contains("permissions") == false)
    }

    @Test("A refused login and a refused operation have remedies of their own; the second names who may do what")
    func refused() {
        let error = AMQPError(.refused, "ACCESS_REFUSED", replyCode: 403)
        let login = CommandConnection.failure(error, at: "amqp://u@h:5672/", isLogin: true)
        #expect(login.status == .refused && login.remedy?.hasPrefix("Check user, password and virtual host.") == true)
        let operation = CommandConnection.failure(error, at: "amqp://u@h:5672/")
        #expect(operation.status == .refused && operation.remedy?.hasPrefix("Log in as a user that may") == true)
        for user in ["apns-producer publishes jobs", "apns-monitor reads results", "apns-replayer reads dead letters"] {
            #expect(operation.remedy?.contains(user) == true)
        }
    }

    @Test("A channel that is closed for something else is not taken for that")
    func otherClosures() {
        let other = failure("PRECONDITION_FAILED - unknown delivery tag 7", 406)
        #expect(other.status == .refused && other.remedy?.contains("consumer_timeout") == false)
        #expect(failure("NOT_FOUND - no queue 'q' in vhost '/'", 404).status == .unreachable)
    }
}
