/// How long a device waits before it tries to connect again. A value without clock or randomness of its own.
package struct DeviceBackoff: Equatable, Sendable {
    /// The first wait in milliseconds.
    static let first = 250
    /// The longest wait in milliseconds.
    static let longest = 15_000

    private var next = DeviceBackoff.first

    /// Starts with the shortest wait.
    package init() {}

    /// Goes back to the shortest wait, after a connection that worked.
    package mutating func succeeded() { next = Self.first }

    /// The wait after another failure; each is twice as long as the one before.
    ///
    /// - Parameter fraction: From 0 to 1, random, so that many devices do not come at once.
    /// - Returns: Milliseconds.
    package mutating func failed(fraction: Double) -> Int {
        let wait = next
        next = min(next * 2, Self.longest)
        return wait / 2 + Int(Double(wait / 2) * min(max(fraction, 0), 1))
    }
}
