/// The names of Apple's own headers in requests and answers, lower case.
///
/// The simulator spells them itself, so that it does not repeat a worker's misspelling.
enum APNSHeader {
    /// A notification's id: a UUID.
    static var id: StaticString { "apns-id" }
    /// The topic with its suffix.
    static var topic: StaticString { "apns-topic" }
    /// The push type.
    static var pushType: StaticString { "apns-push-type" }
    /// 10, 5 or 1.
    static var priority: StaticString { "apns-priority" }
    /// Seconds since 1970, or 0.
    static var expiration: StaticString { "apns-expiration" }
    /// The identifier that notifications share if the newer one replaces the older one.
    static var collapseID: StaticString { "apns-collapse-id" }
    /// The identifier of a broadcast channel.
    static var channelID: StaticString { "apns-channel-id" }
    /// The id of a broadcast request: a UUID.
    static var requestID: StaticString { "apns-request-id" }
    /// The id that answers of the development environment have for a notification: a UUID.
    static var uniqueID: StaticString { "apns-unique-id" }
}
