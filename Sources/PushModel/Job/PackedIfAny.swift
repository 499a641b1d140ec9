/// Like `Packed`, for a range that may be missing. It takes no more room.
@propertyWrapper
package struct PackedIfAny: Sendable {
    /// A lower bound above the upper one means that the range is missing.
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
