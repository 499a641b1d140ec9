/// A range of bytes within one message, in half the room of a `Range<Int>`: a worker holds thousands of jobs, and each
/// has a dozen ranges.
///
/// No message is as long as 4 GiB; a bound beyond that stops the program.
@propertyWrapper
package struct Packed: Sendable {
    private var lower: UInt32
    private var upper: UInt32

    /// Packs a range.
    package init(wrappedValue: Range<Int>) {
        lower = UInt32(wrappedValue.lowerBound)
        upper = UInt32(wrappedValue.upperBound)
    }

    /// The range.
    package var wrappedValue: Range<Int> {
        get { Range(uncheckedBounds: (Int(lower), Int(upper))) }
        set { self = Packed(wrappedValue: newValue) }
    }
}

/// Like `Packed`, for a range that may be missing; that takes no more room.
@propertyWrapper
package struct PackedIfAny: Sendable {
    /// None is a range from the far end to the beginning, which no range is.
    private var lower = UInt32.max
    private var upper: UInt32 = 0

    /// Packs a range, or its absence.
    package init(wrappedValue: Range<Int>? = nil) {
        guard let wrappedValue else { return }
        lower = UInt32(wrappedValue.lowerBound)
        upper = UInt32(wrappedValue.upperBound)
    }

    /// The range; nil without one.
    package var wrappedValue: Range<Int>? {
        get { lower <= upper ? Range(uncheckedBounds: (Int(lower), Int(upper))) : nil }
        set { self = PackedIfAny(wrappedValue: newValue) }
    }
}
