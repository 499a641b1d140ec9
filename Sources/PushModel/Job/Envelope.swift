/// The fields of an enveloped job, validated and left where they stand. A field that is null counts as absent.
struct Envelope {
    /// The field `id`.
    var id: JSONValue?
    /// The field `device_token`.
    var deviceToken: JSONValue?
    /// The field `device_tokens`.
    var deviceTokens: JSONValue?
    /// The field `topic`.
    var topic: JSONValue?
    /// The field `environment`.
    var environment: JSONValue?
    /// The field `push_type`.
    var pushType: JSONValue?
    /// The field `priority`.
    var priority: JSONValue?
    /// The field `expiration`.
    var expiration: JSONValue?
    /// The field `collapse_id`.
    var collapseID: JSONValue?
    /// The field `apns_id`.
    var apnsID: JSONValue?
    /// The field `deadline`.
    var deadline: JSONValue?
    /// The field `not_before`.
    var notBefore: JSONValue?
    /// The field `on_unknown`.
    var onUnknown: JSONValue?
    /// The field `reference`.
    var reference: JSONValue?
    /// The field `payload`.
    var payload: JSONValue?
    /// The field `operation`.
    var operation: JSONValue?
    /// The field `channel_id`.
    var channelID: JSONValue?
    /// The field `storage_policy`.
    var storagePolicy: JSONValue?
    /// The field `results`.
    var results: JSONValue?
    /// How many fields this version does not know.
    var unknownCount = 0
    /// Whether a field of this version is given again after a value that is not null.
    var hasDuplicates = false

    /// Finds the fields of a body. Fields before a mistake are kept.
    ///
    /// - Parameters:
    ///   - body: Where the body stands in `bytes`.
    ///   - bytes: The message's buffer.
    /// - Returns: Whether the body is an object.
    /// - Throws: What is wrong with the JSON text.
    mutating func read(_ body: Range<Int>, in bytes: [UInt8]) throws(JSONError) -> Bool {
        let text = bytes.span
        var scanner = JSONScanner(body)
        guard try scanner.enterObject(in: text) else { return false }
        while let name = try scanner.nextName(in: text) {
            let value = try scanner.value(in: text)
            if name.flag {
                // A name with escapes is unusual, but it is the same name.
                var copy = [UInt8](bytes[name.range])
                if let unescaped = JSONText.unescape(0..<copy.count, in: &copy) {
                    take(copy.span.extracting(unescaped), value)
                } else {
                    unknownCount += 1
                }
            } else {
                take(text.extracting(name.range), value)
            }
        }
        try scanner.finish(in: text)
        return true
    }

    /// Puts a field into its place.
    ///
    /// - Parameters:
    ///   - name: The field's name without escapes.
    ///   - value: Its value.
    mutating func take(_ name: Span<UInt8>, _ value: JSONValue) {
        switch name.count {
        case 2 where name.matches(JobField.id.name): Self.put(value, &id, &hasDuplicates)
        case 5 where name.matches(JobField.topic.name): Self.put(value, &topic, &hasDuplicates)
        case 7 where name.matches(JobField.payload.name): Self.put(value, &payload, &hasDuplicates)
        case 7 where name.matches(JobField.apnsID.name): Self.put(value, &apnsID, &hasDuplicates)
        case 7 where name.matches(JobField.results.name): Self.put(value, &results, &hasDuplicates)
        case 8 where name.matches(JobField.priority.name): Self.put(value, &priority, &hasDuplicates)
        case 8 where name.matches(JobField.deadline.name): Self.put(value, &deadline, &hasDuplicates)
        case 9 where name.matches(JobField.pushType.name): Self.put(value, &pushType, &hasDuplicates)
        case 9 where name.matches(JobField.reference.name): Self.put(value, &reference, &hasDuplicates)
        case 10 where name.matches(JobField.expiration.name): Self.put(value, &expiration, &hasDuplicates)
        case 10 where name.matches(JobField.onUnknown.name): Self.put(value, &onUnknown, &hasDuplicates)
        case 10 where name.matches(JobField.notBefore.name): Self.put(value, &notBefore, &hasDuplicates)
        case 11 where name.matches(JobField.environment.name): Self.put(value, &environment, &hasDuplicates)
        case 11 where name.matches(JobField.collapseID.name): Self.put(value, &collapseID, &hasDuplicates)
        case 12 where name.matches(JobField.deviceToken.name): Self.put(value, &deviceToken, &hasDuplicates)
        case 13 where name.matches(JobField.deviceTokens.name): Self.put(value, &deviceTokens, &hasDuplicates)
        case 9 where name.matches(JobField.operation.name): Self.put(value, &operation, &hasDuplicates)
        case 10 where name.matches(JobField.channelID.name): Self.put(value, &channelID, &hasDuplicates)
        case 14 where name.matches(JobField.storagePolicy.name): Self.put(value, &storagePolicy, &hasDuplicates)
        default: unknownCount += 1
        }
    }

    @inline(__always)
    private static func put(_ value: JSONValue, _ place: inout JSONValue?, _ hasDuplicates: inout Bool) {
        if place != nil { hasDuplicates = true }
        if value.kind != .null { place = value }
    }
}
