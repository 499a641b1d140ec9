/// The counters of a lane itself: plain values that only the lane changes.
package struct LaneCounters: Sendable {
    /// The kind of a publication.
    package enum Publication: Int, Sendable, CaseIterable {
        /// A result, its copy to a reply address, a retry copy, a dead letter.
        case result, reply, retry, dead
    }

    /// How the broker answered a publication.
    package enum Confirm: Int, Sendable, CaseIterable {
        /// Stored; refused; bound to no queue; not answered in time, or before its channel ended.
        case ack, nack, returned, lost
    }

    /// How a delivery was settled with the broker.
    package enum Settling: Int, Sendable, CaseIterable {
        /// Done; left to the broker, which dead-letters it; handed back.
        case acknowledged, rejected, requeued
    }

    /// What was published; index by ``Publication``.
    package var publications = [4 of Int](repeating: 0)
    /// How publications were answered; index by ``Confirm``.
    package var confirms = [4 of Int](repeating: 0)
    /// How deliveries were settled; index by ``Settling``.
    package var settlings = [3 of Int](repeating: 0)
    /// Broker connections opened, consuming and publishing together.
    package var brokerConnects = 0
    /// Broker connections lost.
    package var brokerDisconnects = 0
    /// Accepted notifications noted in the journal.
    package var journalRecords = 0
    /// Accepted notifications that are not in the journal, because the disk failed or was too slow.
    package var journalDropped = 0
    /// Accepted notifications whose results did not wait for their notes, because the disk took too long.
    package var journalLate = 0
    /// Turns of the loop.
    package var turns = 0
    /// How many routes were looked at, added up over all turns.
    package var routeTurns = 0
    /// How often the lane did not turn for longer than two heartbeats.
    package var standstills = 0
    /// How often the machine's clock was set.
    package var clockSteps = 0
    /// How long the loop was busy, waiting excluded.
    package var busy = Duration.zero

    /// Whether the consuming connection is up now.
    package var isConsumerUp = false
    /// Whether the publishing connection is up now.
    package var isPublisherUp = false
    /// Whether the journal takes notes now; nil where none is configured.
    package var isJournalUp: Bool?
    /// Whether the broker has blocked publishing now.
    package var isBlocked = false
    /// Publications now without a confirm.
    package var unconfirmed = 0
    /// The longest recent turn.
    package var longestTurn = Duration.zero

    /// Makes counters at zero.
    package init() {}

    /// Counts a publication.
    package mutating func count(_ publication: Publication) { publications[publication.rawValue] += 1 }

    /// Counts answers to publications.
    package mutating func count(_ confirm: Confirm, _ number: Int = 1) { confirms[confirm.rawValue] += number }

    /// Counts a method that rejected a delivery or handed it back. Acknowledged deliveries are counted elsewhere, when
    /// the acknowledgement is decided, because one acknowledgement may stand for many.
    mutating func count(_ debt: DeliveryLedger.Debt) {
        switch debt {
        case .acknowledge: break
        case .reject: count(.rejected)
        case .requeue: count(.requeued)
        }
    }

    /// Counts settled deliveries.
    package mutating func count(_ settling: Settling, _ number: Int = 1) { settlings[settling.rawValue] += number }
}
