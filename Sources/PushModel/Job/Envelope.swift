/// The fields of an enveloped job, validated and left where they stand; a field that is null counts as absent.
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
    /// Fields that mean nothing to this version.
    var unknownCount = 0
    /// Whether a field of this version is given twice.
    var hasDuplicates = false

    /// Puts a field into its place.
    /// - Parameters:
    ///   - name: The field's name without escapes.
    ///   - value: Its value.
    mutating func take(_ name: Span<UInt8>, _ value: JSONValue) {
        switch name.count {
        case 2 where name.matches("id" as StaticString): Self.put(value, &id, &hasDuplicates)
        case 5 where name.matches("topic" as StaticString): Self.put(value, &topic, &hasDuplicates)
        case 7 where name.matches("payload" as StaticString): Self.put(value, &payload, &hasDuplicates)
        case 7 where name.matches("apns_id" as StaticString): Self.put(value, &apnsID, &hasDuplicates)
        case 8 where name.matches("priority" as StaticString): Self.put(value, &priority, &hasDuplicates)
        case 8 where name.matches("deadline" as StaticString): Self.put(value, &deadline, &hasDuplicates)
        case 9 where name.matches("push_type" as StaticString): Self.put(value, &pushType, &hasDuplicates)
        case 9 where name.matches("reference" as StaticString): Self.put(value, &reference, &hasDuplicates)
        case 10 where name.matches("expiration" as StaticString): Self.put(value, &expiration, &hasDuplicates)
        case 10 where name.matches("on_unknown" as StaticString): Self.put(value, &onUnknown, &hasDuplicates)
        case 11 where name.matches("environment" as StaticString): Self.put(value, &environment, &hasDuplicates)
        case 11 where name.matches("collapse_id" as StaticString): Self.put(value, &collapseID, &hasDuplicates)
        case 12 where name.matches("device_token" as StaticString): Self.put(value, &deviceToken, &hasDuplicates)
        case 13 where name.matches("device_tokens" as StaticString): Self.put(value, &deviceTokens, &hasDuplicates)
        case 9 where name.matches("operation" as StaticString): Self.put(value, &operation, &hasDuplicates)
        case 10 where name.matches("channel_id" as StaticString): Self.put(value, &channelID, &hasDuplicates)
        case 14 where name.matches("storage_policy" as StaticString): Self.put(value, &storagePolicy, &hasDuplicates)
        default: unknownCount += 1
        }
    }

    @inline(__always)
    private static func put(_ value: JSONValue, _ place: inout JSONValue?, _ hasDuplicates: inout Bool) {
        if place != nil { hasDuplicates = true }
        if value.kind != .null { place = value }
    }
}
