/// How long a device waits before it tries to connect again. A value without clock or randomness of its own.
package struct DeviceBackoff: Equatable, Sendable {
    /// The upper bound of the first wait, in milliseconds.
    static let first = 250
    /// The upper bound of every wait, in milliseconds.
    static let longest = 15_000

    private var next = DeviceBackoff.first

    /// Starts with the shortest wait.
    package init() {}

    /// Goes back to the shortest wait, after a connection that worked.
    package mutating func succeeded() { next = Self.first }

    /// The wait after another failure.
    ///
    /// The upper bound begins at ``first`` and doubles with each failure, up to ``longest``. The wait is between half
    /// of the bound and the whole bound.
    ///
    /// - Parameter fraction: The place between these two, from 0 to 1. A random number keeps many devices from
    ///   connecting at the same moment.
    /// - Returns: Milliseconds.
    package mutating func failed(fraction: Double) -> Int {
        let wait = next
        next = min(next * 2, Self.longest)
        return wait / 2 + Int(Double(wait / 2) * min(max(fraction, 0), 1))
    }
}
