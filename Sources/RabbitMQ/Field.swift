/// An entry of a field table, by its place in the buffer.
package struct Field: Sendable, Equatable {
    /// Where the name stands; empty for the elements of an array.
    package var name: Range<Int>
    /// The kind as it stands on the wire, so that a copy can keep it.
    package var kind: UInt8
    /// The value.
    package var value: FieldSlice
}
