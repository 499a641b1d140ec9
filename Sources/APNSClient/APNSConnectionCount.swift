/// How many connections a pool keeps.
package enum APNSConnectionCount: Sendable, Equatable {
    /// Always this many.
    case fixed(Int)
    /// One, and more while all are full, up to this many.
    case automatic(maximum: Int)
}
