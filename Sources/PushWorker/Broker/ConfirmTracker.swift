import DequeModule
package import EventLoop

/// Matches publisher confirms and returns to what was published on one confirm channel.
///
/// Sequence numbers count from 1 per channel. Confirms may be `multiple` or negative, and come in any order. A returned
/// message is announced before its confirm. That confirm is positive, although nothing was stored (RabbitMQ, "Consumer
/// Acknowledgements and Publisher Confirms"). Pure: events in, fates out.
package struct ConfirmTracker<Publication> {
    /// What became of one publication.
    package enum Fate: Equatable {
        /// The broker took responsibility for it.
        case confirmed
        /// It could not be routed: confirmed, but stored nowhere.
        case returned
        /// It, or another one that looks the same, could not be routed.
        case perhapsReturned
        /// The broker refused it, for instance because the queue is full (`reject-publish`).
        case refused
        /// The broker did not answer in time and is no longer waited for. It may have the message.
        case abandoned
        /// No frame of the broker can carry it: it was not published.
        case unfit
    }

    private struct Entry {
        var publication: Publication?
        /// Whether a return was attributed to it.
        var isReturned = false
        /// Whether more publications look the same than were returned. Nobody knows then which ones were returned.
        var isDoubtful = false
        /// A number shared by all publications that can look the same.
        let mark: UInt64
        /// When it was published.
        let at: MonotonicTime

        /// What a positive confirm means for it.
        var fate: Fate { isDoubtful ? .perhapsReturned : isReturned ? .returned : .confirmed }
    }

    private var entries = Deque<Entry>()
    /// The sequence number of `entries[0]`.
    private var first: UInt64 = 1

    /// Starts a channel: the next publication has sequence number 1.
    package init() {}

    /// How many publications wait for their confirm.
    package private(set) var unconfirmed = 0

    /// How many entries are kept: from the oldest unconfirmed one to the newest, with those confirmed in between.
    package var span: Int { entries.count }

    /// The highest sequence number that the broker answered; 0 if it answered none.
    private var newestAnswered: UInt64 = 0

    /// How many publications were answered that are later than the oldest unconfirmed one.
    package var overtakers: Int { entries.count - unconfirmed }

    /// When the oldest publication without a confirm was published; nil when all are confirmed.
    package var oldest: MonotonicTime? { entries.first?.at }

    /// Records a publication that was just written and gives its sequence number.
    ///
    /// - Parameters:
    ///   - publication: The publication.
    ///   - mark: A number shared by all publications that one return can match. Others may have it, too.
    ///   - now: The time.
    @discardableResult
    package mutating func published(_ publication: Publication, mark: UInt64 = 0, now: MonotonicTime) -> UInt64 {
        entries.append(Entry(publication: publication, mark: mark, at: now))
        unconfirmed += 1
        return first + UInt64(entries.count) - 1
    }

    /// Notes that an unconfirmed publication was returned. If `matches` accepts more publications than were returned,
    /// all of them are doubtful: a positive confirm then means `perhapsReturned`.
    ///
    /// - Returns: False when nothing matches, which means the broker returned something we did not publish.
    package mutating func returned(where matches: (Publication) -> Bool) -> Bool {
        func isMatch(_ position: Int) -> Bool { entries[position].publication.map(matches) ?? false }
        guard let first = entries.indices.first(where: { !entries[$0].isReturned && isMatch($0) }) else { return false }
        entries[first].isReturned = true
        // Marks are compared first: after an outage thousands may be unconfirmed, and hardly any share a mark.
        let mark = entries[first].mark
        let alike = entries.indices.filter { entries[$0].mark == mark && isMatch($0) }
        let areAllReturned = alike.allSatisfy { entries[$0].isReturned }
        for position in alike { entries[position].isDoubtful = !areAllReturned }
        return true
    }

    /// Applies one `basic.ack` (positive) or `basic.nack` (negative) and reports each publication it settles.
    ///
    /// - Returns: False when the sequence number was never published, or everything up to it is settled already.
    package mutating func confirmed(
        _ sequence: UInt64, multiple: Bool, positive: Bool, settle: (Publication, Fate) -> Void
    ) -> Bool {
        guard sequence >= first, sequence < first + UInt64(entries.count) else { return false }
        let last = Int(sequence - first)
        for position in (multiple ? 0 : last)...last {
            guard let publication = entries[position].publication else { continue }
            let fate = positive ? entries[position].fate : .refused
            entries[position].publication = nil
            unconfirmed -= 1
            settle(publication, fate)
        }
        newestAnswered = max(newestAnswered, sequence)
        forgetSettled()
        return true
    }

    /// Stops waiting for publications that are unconfirmed for this long. Later answers about them are ignored.
    ///
    /// - Parameters:
    ///   - patience: For how long they are unconfirmed at least.
    ///   - overtaken: Whether to take only publications that answered ones overtook.
    ///   - now: The time.
    ///   - settle: Takes each such publication.
    package mutating func abandon(
        after patience: Duration, onlyOvertaken overtaken: Bool = false, now: MonotonicTime,
        settle: (Publication) -> Void
    ) {
        var position = 0
        while position < entries.count, entries[position].at + patience <= now,
            !overtaken || first + UInt64(position) < newestAnswered
        {
            if let publication = entries[position].publication {
                entries[position].publication = nil
                unconfirmed -= 1
                settle(publication)
            }
            position += 1
        }
        forgetSettled()
    }

    private mutating func forgetSettled() {
        while let entry = entries.first, entry.publication == nil {
            entries.removeFirst()
            first += 1
        }
    }

    /// Ends the channel: gives back everything unconfirmed, in publishing order, to be published again.
    package mutating func channelLost() -> [Publication] {
        let lost = entries.compactMap(\.publication)
        self = ConfirmTracker()
        return lost
    }
}
