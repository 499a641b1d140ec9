/// What a payload itself says about its push.
enum Payload {
    /// Whether `aps` holds `content-available` and nothing else. Such a push is a background push.
    ///
    /// - Parameters:
    ///   - payload: Where the JSON object stands in `bytes`.
    ///   - bytes: The buffer.
    static func isBackground(_ payload: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        var scanner = JSONScanner(payload)
        do throws(JSONError) {
            guard try scanner.enterObject(in: bytes) else { return false }
            while let name = try scanner.nextName(in: bytes) {
                let value = try scanner.value(in: bytes)
                guard bytes.extracting(name.range).matches("aps" as StaticString) else { continue }
                return try holdsOnlyContentAvailable(value, in: bytes)
            }
            return false
        } catch {
            return false
        }
    }

    private static func holdsOnlyContentAvailable(
        _ aps: JSONValue, in bytes: Span<UInt8>
    ) throws(JSONError) -> Bool {
        guard aps.kind == .object else { return false }
        var members = JSONScanner(aps.range)
        guard try members.enterObject(in: bytes) else { return false }
        var count = 0
        while let member = try members.nextName(in: bytes) {
            guard bytes.extracting(member.range).matches("content-available" as StaticString) else { return false }
            _ = try members.value(in: bytes)
            count += 1
        }
        return count > 0
    }
}
