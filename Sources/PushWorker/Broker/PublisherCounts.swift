/// Counts of a publisher's publications and of their confirms.
struct PublisherCounts {
    /// How many were published, by kind.
    var publications = [4 of Int](repeating: 0)
    /// How they were answered.
    var confirms = [4 of Int](repeating: 0)
}
