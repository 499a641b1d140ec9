import BrokerClient
import PushModel
import RabbitMQ
import WorkerSettings

/// Writes the results of jobs that RabbitMQ ended in their queues, and the replies to such jobs.
///
/// They look as if a lane had written them. Each result is a message of its own, also where batches are wanted.
struct BrokerLetterWriter {
    /// Publishes a message. It is told whether the message is a reply, whose fate it waits for.
    typealias Publish = (_ message: borrowing OutgoingMessage, _ isReply: Bool) throws(AMQPError) -> PublishResult

    private let replyPattern: ReplyPattern
    private var renderer: PublicationRenderer
    private var message = OutgoingMessage()
    /// Whether replies may go to the default exchange, as far as the broker has said.
    private(set) var mayWriteToQueues = true

    /// A writer for one worker.
    ///
    /// - Parameter settings: What a lane is told: how results look, and which replies are allowed.
    init(_ settings: LaneSettings) {
        replyPattern = settings.replyPattern
        renderer = settings.renderer
    }

    /// Publishes a result for each notification of a letter, after its reply where one is wanted and allowed.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - publish: Publishes each message.
    mutating func write(_ letter: BrokerLetter, publish: Publish) throws(AMQPError) {
        renderer.setRoute(letter.route, at: 0)
        for index in letter.indexes {
            var content = ResultContent(report: letter.report, finishedAt: letter.job.receivedAt)
            if let loss = try reply(content, index, of: letter, publish) { content.report.addDetail(loss) }
            render(.result(index: index, content), of: letter)
            _ = try publish(message, false)
        }
    }

    private mutating func render(_ content: Publication.Content, of letter: BrokerLetter) {
        renderer.render(Publication(job: letter.job, route: 0, content: content), into: &message)
    }

    /// Publishes the reply to a notification.
    ///
    /// - Returns: What the result says of a reply that did not arrive; nil where it did, or none is wanted.
    private mutating func reply(
        _ content: ResultContent, _ index: Int, of letter: BrokerLetter, _ publish: Publish
    ) throws(AMQPError) -> String? {
        guard let range = letter.job.job.replyTo else { return nil }
        let address = Array(letter.job.job.bytes[range])
        if let refusal = ReplyWay.refusal(of: address.span, allowed: replyPattern) {
            return "no reply was sent: \(refusal)"
        }
        var way = ReplyWay.exchange
        while true {
            render(.reply(index: index, content, way), of: letter)
            let fate = try fate(of: way, publish)
            switch way.step(after: fate, address: address.span, mayWriteToQueues: mayWriteToQueues) {
            case .done: return nil
            case .tryQueue: way = .queue
            case .lost(let words): return "the reply \(words)"
            }
        }
    }

    /// Publishes the message, which is a reply.
    private mutating func fate(
        of way: ReplyWay, _ publish: Publish
    ) throws(AMQPError) -> ConfirmTracker<Publication>.Fate {
        do throws(AMQPError) {
            switch try publish(message, true) {
            case .confirmed: return .confirmed
            case .nacked: return .refused
            case .returned: return .returned
            }
        } catch {
            // The broker closed the channel. The letter comes again, and its reply then takes no such way.
            if way == .queue, error.replyCode == 403 { mayWriteToQueues = false }
            guard error.code != .invalidMessage else { return .unfit }
            throw error
        }
    }
}
