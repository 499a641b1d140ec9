import BrokerClient
import EventLoop
import PushModel
import RabbitMQ
import WorkerSettings

/// Writes the results of jobs that RabbitMQ ended in their queues, and the replies to such jobs.
///
/// They look as if a lane had written them. Each result is a message of its own, also where batches are wanted.
///
/// All apps' letters are in one line, and a producer may bind hundreds of queues to the key in `reply_to`. So the replies
/// to a letter have `replyTime`, and an app whose replies took longer has none for `rest`.
struct BrokerLetterWriter {
    /// Publishes a message, and returns its number.
    typealias Publish = (_ message: borrowing OutgoingMessage, _ isReply: Bool) throws(AMQPError) -> UInt64
    /// Waits for the broker's answers, and returns those that were not returned yet.
    typealias Answers = () throws(AMQPError) -> [(number: UInt64, result: PublishResult)]

    /// How long the replies to one letter may take.
    static let replyTime = Duration.seconds(1)
    /// How long an app whose replies took longer has none.
    static let rest = Duration.seconds(60)

    private let replyPattern: ReplyPattern
    private let now: () -> MonotonicTime
    private var renderer: PublicationRenderer
    private var message = OutgoingMessage()
    /// Until when an app's letters have no replies.
    private var resting: [[UInt8]: MonotonicTime] = [:]
    /// Whether replies may go to the default exchange, as far as the broker has said.
    private(set) var mayWriteToQueues = true

    /// A writer for one worker.
    ///
    /// - Parameters:
    ///   - settings: What a lane is told: how results look, and which replies are allowed.
    ///   - now: The clock.
    init(_ settings: LaneSettings, now: @escaping () -> MonotonicTime = { .now() }) {
        replyPattern = settings.replyPattern
        renderer = settings.renderer
        self.now = now
    }

    /// Publishes the replies to a letter where they are wanted and allowed, and then a result for each notification.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - publish: Publishes each message.
    ///   - answers: Waits for the answers to the replies.
    mutating func write(_ letter: BrokerLetter, publish: Publish, answers: Answers) throws(AMQPError) {
        renderer.setRoute(letter.route, at: 0)
        let content = ResultContent(report: letter.report, finishedAt: letter.job.receivedAt)
        let losses = try reply(content, to: letter, publish, answers)
        for index in letter.indexes {
            var content = content
            if let loss = losses[index] { content.report.addDetail(loss) }
            render(.result(index: index, content), of: letter)
            _ = try publish(message, false)
        }
    }

    private mutating func render(_ content: Publication.Content, of letter: BrokerLetter) {
        renderer.render(Publication(job: letter.job, route: 0, content: content), into: &message)
    }

    /// Publishes the replies to a letter.
    ///
    /// - Returns: What the results say of replies that did not arrive, by index.
    private mutating func reply(
        _ content: ResultContent, to letter: BrokerLetter, _ publish: Publish, _ answers: Answers
    ) throws(AMQPError) -> [Int: String] {
        guard let range = letter.job.job.replyTo else { return [:] }
        let address = Array(letter.job.job.bytes[range])
        func all(_ loss: String) -> [Int: String] {
            Dictionary(letter.indexes.map { ($0, loss) }) { first, _ in first }
        }
        if let refusal = ReplyWay.refusal(of: address.span, allowed: replyPattern) {
            return all("no reply was sent: \(refusal)")
        }
        let (app, start) = (letter.app, now())
        guard resting[app].map({ $0 <= start }) ?? true else { return all(Self.tooSlow) }
        var losses: [Int: String] = [:]
        var pending = letter.indexes
        var way = ReplyWay.exchange
        while !pending.isEmpty {
            let fates: [(index: Int, fate: ConfirmTracker<Publication>.Fate?)]
            do throws(AMQPError) {
                fates = try self.fates(
                    of: pending, way, content, letter, until: start + Self.replyTime, publish, answers)
            } catch {
                // The letter comes again.
                if error.code == .timeout { rest(app, since: start) }
                throw error
            }
            pending = []
            for (index, fate) in fates {
                switch fate.map({ way.step(after: $0, address: address.span, mayWriteToQueues: mayWriteToQueues) }) {
                case .done?: break
                case .tryQueue?: pending.append(index)
                case .lost(let words)?: losses[index] = "the reply \(words)"
                case nil: losses[index] = Self.tooSlow
                }
            }
            way = .queue
        }
        if now() >= start + Self.replyTime { rest(app, since: start) }
        return losses
    }

    private mutating func rest(_ app: [UInt8], since start: MonotonicTime) {
        resting = resting.filter { $0.value > start }
        resting[app] = now() + Self.rest
    }

    private static let tooSlow =
        "no reply was sent: replies to such a job took the broker longer than \(replyTime.components.seconds) s, as where "
        + "many queues are bound to one reply_to"

    /// Publishes replies, and waits for what becomes of them.
    ///
    /// - Returns: The fate of each reply; nil for one for which there was no time.
    private mutating func fates(
        of indexes: [Int], _ way: ReplyWay, _ content: ResultContent, _ letter: BrokerLetter,
        until deadline: MonotonicTime, _ publish: Publish, _ answers: Answers
    ) throws(AMQPError) -> [(index: Int, fate: ConfirmTracker<Publication>.Fate?)] {
        var fates: [(index: Int, fate: ConfirmTracker<Publication>.Fate?)] = []
        var places: [UInt64: Int] = [:]
        do throws(AMQPError) {
            for index in indexes {
                fates.append((index, nil))
                guard now() < deadline else { continue }
                render(.reply(index: index, content, way), of: letter)
                do throws(AMQPError) {
                    places[try publish(message, true)] = fates.count - 1
                } catch  where error.code == .invalidMessage {
                    fates[fates.count - 1].fate = .unfit
                }
            }
            for answer in try answers() {
                guard let place = places[answer.number] else { continue }
                fates[place].fate =
                    switch answer.result {
                    case .confirmed: .confirmed
                    case .nacked: .refused
                    case .returned: .returned
                    }
            }
        } catch {
            // The broker closed the channel. The letter comes again, and its reply then takes no such way.
            if way == .queue, error.replyCode == 403 { mayWriteToQueues = false }
            throw error
        }
        return fates
    }
}
