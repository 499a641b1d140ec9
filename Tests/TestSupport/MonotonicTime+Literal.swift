package import EventLoop

/// Times of made-up clocks are written as their nanoseconds.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    /// Makes a point in time from its distance to the clock's start in nanoseconds.
    package init(integerLiteral nanoseconds: UInt64) { self.init(nanoseconds: nanoseconds) }
}
