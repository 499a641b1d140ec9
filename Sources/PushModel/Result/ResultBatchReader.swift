/// Reads a message with several results.
package enum ResultBatchReader {
    /// One of the results.
    package struct Entry: Equatable {
        /// Its `message_id`.
        package var messageID: String
        /// The body that the result would have as a message of its own, with two differences. Its fields stand in a
        /// different order. It has the entry's `message_id`, `correlation_id` and `traceparent` as fields, too.
        package var body: [UInt8]
    }

    /// Takes the results apart.
    ///
    /// - Parameter body: The body of the message.
    /// - Returns: The results in their order. Nil for a body that does not hold several results, that is longer than
    ///   `ResultReport.longestBatch`, or that has more results than `Job.maximumTokens`.
    package static func entries(in body: [UInt8]) -> [Entry]? {
        do throws(JSONError) {
            return try read(body)
        } catch {
            return nil
        }
    }

    /// A field as it stands in the body.
    private struct Member {
        let name: Range<Int>
        let value: JSONValue

        /// The value with the quotation marks of text.
        var written: Range<Int> {
            value.kind == .string ? value.range.lowerBound - 1..<value.range.upperBound + 1 : value.range
        }
    }

    private static func read(_ body: [UInt8]) throws(JSONError) -> [Entry]? {
        guard body.count <= ResultReport.longestBatch else { return nil }
        let bytes = body.span
        var scanner = JSONScanner(0..<body.count)
        guard var top = try members(of: &scanner, in: bytes),
            let position = top.firstIndex(where: { isName($0, BatchField.results, in: bytes) })
        else { return nil }
        try scanner.finish(in: bytes)
        let list = top.remove(at: position).value
        guard list.kind == .array else { return nil }
        var elements = JSONScanner(list.range)
        guard try elements.enterArray(in: bytes) else { return nil }
        var entries: [Entry] = []
        while try elements.hasElement(in: bytes) {
            guard let own = try members(of: &elements, in: bytes),
                let id = own.first(where: { isName($0, BatchField.messageID, in: bytes) })?.value, id.kind == .string
            else { return nil }
            guard entries.count < Job.maximumTokens else { return nil }
            entries.append(
                Entry(
                    messageID: String(decoding: body[id.range], as: UTF8.self), body: merge(own, into: top, of: body)))
        }
        return entries
    }

    private static func members(
        of scanner: inout JSONScanner, in bytes: Span<UInt8>
    ) throws(JSONError) -> [Member]? {
        guard try scanner.enterObject(in: bytes) else { return nil }
        var members: [Member] = []
        while let name = try scanner.nextName(in: bytes) {
            members.append(Member(name: name.range, value: try scanner.value(in: bytes)))
        }
        return members
    }

    private static func isName(_ member: Member, _ field: BatchField, in bytes: Span<UInt8>) -> Bool {
        bytes.extracting(member.name).matches(field.name)
    }

    /// The object with the fields of both. Where both have a field, the entry's counts.
    private static func merge(_ own: [Member], into top: [Member], of body: [UInt8]) -> [UInt8] {
        var merged = [UInt8(ascii: "{")]
        let shared = top.filter { one in !own.contains { body[$0.name] == body[one.name] } }
        for member in own + shared {
            if merged.count > 1 { merged.append(UInt8(ascii: ",")) }
            merged.append(UInt8(ascii: "\""))
            merged += body[member.name]
            merged += [UInt8(ascii: "\""), UInt8(ascii: ":")]
            merged += body[member.written]
        }
        merged.append(UInt8(ascii: "}"))
        return merged
    }
}
