infix operator +| : AdditionPrecedence
infix operator -| : AdditionPrecedence
infix operator *| : MultiplicationPrecedence

/// Arithmetic on numbers that a message, a peer or a person wrote.
///
/// The result stays at the end of the type's range where `+`, `-` and `*` would end the process.
extension FixedWidthInteger {
    /// The sum, or the end of the range that it lies beyond.
    @inlinable
    package static func +| (left: Self, right: Self) -> Self {
        let (sum, isBeyond) = left.addingReportingOverflow(right)
        return isBeyond ? (right < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it lies beyond.
    @inlinable
    package static func -| (left: Self, right: Self) -> Self {
        let (difference, isBeyond) = left.subtractingReportingOverflow(right)
        return isBeyond ? (right > 0 ? .min : .max) : difference
    }

    /// The product, or the end of the range that it lies beyond.
    @inlinable
    package static func *| (left: Self, right: Self) -> Self {
        let (product, isBeyond) = left.multipliedReportingOverflow(by: right)
        return isBeyond ? ((left < 0) == (right < 0) ? .max : .min) : product
    }

    /// The number without its fraction, or the end of the range that it lies beyond; 0 for what is not a number.
    @inlinable
    package init(saturating number: Double) {
        self = Self(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
