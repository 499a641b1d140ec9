/// The oldest of all letters that are offered, up to a limit, oldest first: a pure value.
///
/// A queue may hold letters in another order than that of their deaths: a look that was ended half way may have put the
/// letters that it had seen behind the others.
struct OldestLetters<Letter> {
    /// How many letters are kept.
    let limit: Int
    /// How many letters were offered.
    private(set) var offered = 0
    /// The letters that are kept, oldest first. Letters of the same age stand in the order in which they were offered.
    var letters: [Letter] { Self.sorted(kept).prefix(limit).map(\.letter) }

    /// In no order, and fewer than twice the limit: sorting so many at a time costs a letter no more than a look at some
    /// others, whatever the order of the queue.
    private var kept: [(diedAt: Int64, position: Int, letter: Letter)] = []
    /// The age of the youngest letter that can be among the oldest; nil while there is room.
    private var youngest: Int64?
    private var lastDeath = Int64.min

    /// Starts without letters.
    ///
    /// - Parameter limit: How many letters are kept, at least 1.
    init(limit: Int) { self.limit = limit }

    /// Offers a letter.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - diedAt: When it died, in milliseconds since 1970; nil where nobody wrote that. Such a letter keeps its place
    ///     behind the letter that was offered before it.
    mutating func offer(_ letter: @autoclosure () -> Letter, diedAt: Int64?) {
        offered += 1
        let age = diedAt ?? lastDeath
        lastDeath = age
        if let youngest, age >= youngest { return }
        kept.append((age, offered, letter()))
        if youngest == nil, kept.count == limit { youngest = kept.map(\.diedAt).max() }
        guard kept.count >= 2 * limit else { return }
        kept = Array(Self.sorted(kept).prefix(limit))
        youngest = kept.last?.diedAt
    }

    private static func sorted(
        _ letters: [(diedAt: Int64, position: Int, letter: Letter)]
    ) -> [(diedAt: Int64, position: Int, letter: Letter)] {
        letters.sorted { ($0.diedAt, $0.position) < ($1.diedAt, $1.position) }
    }
}
