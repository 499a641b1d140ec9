import BrokerClient
import RabbitMQ
import Testing
import Topology

// The stream of operators' commands, as tests write it.
extension AMQPBlockingClient {
    /// Makes the stream where it is missing.
    func declareControlStream() throws {
        let arguments = FieldTable(entries: [.init(name: Array("x-queue-type".utf8), value: .text("stream"))])
        _ = try declareQueue(TopologyNames.controlQueue, exclusive: false, arguments: arguments)
    }

    /// Publishes the body of a command, or another body, to the stream itself.
    func publishCommand(_ body: [UInt8]) throws {
        var message = OutgoingMessage()
        message.isMandatory = true
        message.setRoutingKey(TopologyNames.controlQueue.utf8Span.span)
        message.setMessageID("command".utf8Span.span)
        message.setBody(body.span)
        #expect(try publishConfirmed(message) == .confirmed)
    }
}
