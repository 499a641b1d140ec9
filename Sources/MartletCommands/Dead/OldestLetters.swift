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
    var letters: [Letter] { kept.map(\.letter) }

    private var kept: [(diedAt: Int64, letter: Letter)] = []
    private var lastDeath = Int64.min

    /// Starts without letters.
    ///
    /// - Parameter limit: How many letters are kept.
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
        if kept.count == limit {
            guard let last = kept.last, age < last.diedAt else { return }
            kept.removeLast()
        }
        var (low, high) = (0, kept.count)
        while low < high {
            let middle = (low + high) / 2
            if kept[middle].diedAt <= age { low = middle + 1 } else { high = middle }
        }
        kept.insert((age, letter()), at: low)
    }
}
