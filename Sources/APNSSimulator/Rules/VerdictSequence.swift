/// A verdict that changes as pushes to one device come in: some failures first, then something else.
package struct VerdictSequence: Hashable, Sendable {
    /// The verdict of the first ``count`` pushes of a device.
    package var first: Verdict

    /// How many pushes ``first`` holds for; nil for all of them.
    package var count: Int?

    /// The verdict of all later pushes.
    package var then: Verdict

    /// Makes a sequence.
    ///
    /// - Parameters:
    ///   - first: The verdict to begin with.
    ///   - count: How many pushes of a device it holds for; nil for all.
    ///   - then: The verdict afterwards.
    package init(_ first: Verdict, count: Int? = nil, then: Verdict = .accept) {
        self.first = first
        self.count = count
        self.then = then
    }

    /// The verdict of one push.
    ///
    /// - Parameter index: How many pushes the device got under this sequence before.
    /// - Returns: The verdict.
    func verdict(at index: Int) -> Verdict {
        guard let count else { return first }
        return index < count ? first : then
    }
}
