extension String {
    /// The text followed by spaces up to a width.
    /// - Parameter width: In characters; longer texts stay as they are.
    func padded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }

    /// The text preceded by spaces up to a width.
    /// - Parameter width: In characters; longer texts stay as they are.
    func aligned(to width: Int) -> String {
        count >= width ? self : String(repeating: " ", count: width - count) + self
    }
}
