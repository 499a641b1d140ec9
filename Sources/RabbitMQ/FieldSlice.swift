/// A value in a field table, by its place in the buffer; all integer widths are folded into two cases.
package enum FieldSlice: Sendable, Equatable {
    /// `S`: a long string, not necessarily UTF-8.
    case text(Range<Int>)
    /// `x`: a byte array.
    case bytes(Range<Int>)
    /// `b`, `B`, `s`, `u`, `I`, `i`, `l`, and `L` where it fits.
    case integer(Int64)
    /// `L` above the largest `Int64`.
    case unsigned(UInt64)
    /// `t`.
    case boolean(Bool)
    /// `T`: seconds since 1970.
    case timestamp(UInt64)
    /// `f` and `d`.
    case double(Double)
    /// `D`: `value` divided by ten to the power of `scale`.
    case decimal(scale: UInt8, value: UInt32)
    /// `F`: the content of a nested table, already checked.
    case table(Range<Int>)
    /// `A`: the content of an array, already checked.
    case array(Range<Int>)
    /// `V`.
    case void
}
