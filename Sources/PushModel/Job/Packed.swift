/// A range of bytes within one message, in half the room of a `Range<Int>`. A worker holds thousands of jobs, and each
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
