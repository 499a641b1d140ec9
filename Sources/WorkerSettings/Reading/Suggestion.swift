/// "Did you mean": the known word nearest to a misspelt one.
package enum Suggestion {
    /// The only candidate that begins with the word, if the word has more than two bytes. Otherwise the nearest
    /// candidate within a third of the word's length in bytes (at least one edit), or nil. Upper and lower case are the
    /// same.
    ///
    /// - Parameters:
    ///   - word: What was written.
    ///   - candidates: What could have been meant. Of equally near candidates, the first one wins.
    /// - Returns: The nearest candidate.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let beginnings = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
        if word.utf8.count > 2, beginnings.count == 1 { return beginnings.first }
        let limit = max(1, word.utf8.count / 3)
        var best: (distance: Int, word: String)?
        for candidate in candidates {
            let distance = distance(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
            if distance <= limit, distance < best?.distance ?? Int.max { best = (distance, candidate) }
        }
        return best?.word
    }

    /// A sentence that offers the nearest candidate, with a leading space; empty when nothing is near.
    package static func sentence(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    /// The least number of single-byte insertions, deletions, replacements and swaps of neighbours between two words.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: right.count + 1)
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1] + [Int](repeating: 0, count: right.count)
            for column in 0..<right.count {
                let replacement = previous[column] + (left[row] == right[column] ? 0 : 1)
                current[column + 1] = min(replacement, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    current[column + 1] = min(current[column + 1], beforePrevious[column - 1] + 1)
                }
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
