import PushModel
import PushWorker
import RabbitMQ
import Topology

extension ControlCommand {
    /// Writes the command as the message that all workers read.
    func write(to message: inout OutgoingMessage) {
        message.reset()
        message.isMandatory = true
        message.setExchange(TopologyNames.control.utf8Span.span)
        message.setContentType(MessageName.jsonContentType)
        message.setType(Self.messageType.utf8Span.span)
        message.setMessageID(id.utf8Span.span)
        message.setTimestamp(UInt64(issuedAt / 1_000))
        message.setBody(json.span)
    }
}
