/// Counts of a publisher's publications and of their confirms.
struct PublisherCounts {
    /// How many were published, by kind.
    var publications = [4 of Int](repeating: 0)
    /// How they were answered.
    private(set) var confirms = [4 of Int](repeating: 0)

    /// Counts what became of a publication.
    mutating func note(_ fate: ConfirmTracker<Publication>.Fate) {
        let confirm: LaneCounters.Confirm =
            switch fate {
            case .confirmed: .ack
            case .returned, .perhapsReturned: .returned
            case .refused: .nack
            case .abandoned, .unfit: .lost
            }
        confirms[confirm.rawValue] += 1
    }

    /// Counts publications whose channel is gone before they were answered.
    mutating func lost(_ count: Int) { confirms[LaneCounters.Confirm.lost.rawValue] += count }
}
