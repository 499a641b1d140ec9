import PushModel
import RabbitMQ
import Text
import Topology

// Counts of retry copies: how many went into each tier, and how many came back from it.
extension Route {
    /// Counts a retry copy that the broker has confirmed.
    ///
    /// - Parameters:
    ///   - job: The job it is a copy of.
    ///   - tier: The position of its tier.
    ///   - indexes: The positions that the copy is about; nil for all of the job.
    func countCopy(of job: JobInFlight, in tier: Int, _ indexes: [Int]?) {
        counters.retryCopies[tier] += 1
        guard !job.isHeld else { return }
        counters.retries[tier] += indexes?.count ?? job.job.notificationCount
    }

    /// Counts a delivery of a retry copy that came back.
    ///
    /// A redelivery counts, too. RabbitMQ 3.10 was seen to mark copies as redelivered that no worker had received before.
    /// A probable reason is a consumer that is cancelled while the broker sends to it.
    ///
    /// The broker names the queue in which a message died first. Workers of all versions write copies without the job's
    /// earlier deaths, so that queue is the copy's tier.
    ///
    /// - Parameters:
    ///   - copy: The message, its headers read.
    ///   - properties: Where its properties stand.
    func countReturn(of copy: borrowing JobMessage, _ properties: Range<Int>) {
        guard let table = try? MessagePropertyReader(copy.bytes, properties).headers else { return }
        var reader = FieldTableReader(table, maximumSize: FieldTableReader.maximumSizeOfCopies)
        while let field = try? reader.next(in: copy.bytes) {
            guard case .text(let queue) = field.value,
                copy.bytes.span.extracting(field.name).isText(BrokerHeader.firstDeathQueue)
            else { continue }
            for (tier, delay) in surroundings.policy.allTiers.enumerated()
            where copy.bytes.span.extracting(queue).isEqual(
                to: RetryTier(milliseconds: delay.wholeMilliseconds).queue)
            {
                counters.retryReturns[tier] += 1
            }
            return
        }
    }
}
