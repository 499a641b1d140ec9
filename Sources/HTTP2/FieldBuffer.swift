import CNGHTTP2

/// Owns the array of name-value records that the library reads when a message is submitted. It grows and never shrinks.
final class FieldBuffer {
    private var records: UnsafeMutablePointer<nghttp2_nv>
    private var capacity = 16

    /// Makes a buffer for a usual request.
    init() {
        records = .allocate(capacity: capacity)
    }

    deinit {
        records.deallocate()
    }

    /// Lends the records of a block; the pointer must not leave the closure.
    ///
    /// - Parameters:
    ///   - head: The fields; they must stay as they are during the call.
    ///   - body: Gets the records and their number.
    /// - Returns: The closure's result.
    func withRecords(
        of head: borrowing HeaderBlock, _ body: (UnsafePointer<nghttp2_nv>, Int) -> Int32
    ) -> Int32 {
        let count = head.entries.count
        grow(to: count)
        return head.bytes.withUnsafeBufferPointer { bytes in
            for index in 0..<count {
                (records + index).initialize(to: Self.record(head.entries[index], bytes))
            }
            return body(records, count)
        }
    }

    private func grow(to count: Int) {
        guard count > capacity else { return }
        records.deallocate()
        capacity = count * 2
        records = .allocate(capacity: capacity)
    }

    /// Literals live as long as the process, so the library need not copy them. It copies stored bytes.
    private static func record(_ entry: HeaderBlock.Entry, _ bytes: UnsafeBufferPointer<UInt8>) -> nghttp2_nv {
        let (name, nameCount, nameIsLent) = pointer(entry.name, bytes)
        let (value, valueCount, valueIsLent) = pointer(entry.value, bytes)
        var flags = NGHTTP2_NV_FLAG_NONE.rawValue
        if nameIsLent { flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue }
        if valueIsLent { flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue }
        if !entry.isIndexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
        return nghttp2_nv(
            name: name, value: value, namelen: nameCount, valuelen: valueCount, flags: UInt8(truncatingIfNeeded: flags))
    }

    private static func pointer(
        _ text: HeaderBlock.Text, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> (UnsafeMutablePointer<UInt8>?, Int, Bool) {
        switch text {
        case .literal(let literal):
            // The library takes mutable pointers, but writes only to its copies.
            return (UnsafeMutablePointer(mutating: literal.utf8Start), literal.utf8CodeUnitCount, true)
        case .stored(let start, let count):
            return (bytes.baseAddress.map { UnsafeMutablePointer(mutating: $0 + start) }, count, false)
        }
    }
}
