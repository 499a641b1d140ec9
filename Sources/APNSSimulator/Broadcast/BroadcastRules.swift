import Text

/// Apple's rules for broadcasts and for broadcast channel management, apart from the credential. A value without clock
/// or lock.
///
/// See Apple, "Sending channel management requests to APNs", "Sending broadcast push notification requests to APNs" and
/// "Handling error responses from Apple Push Notification service".
struct BroadcastRules {
    /// The longest body of a published message in bytes.
    static let payloadLimit = 5120

    /// The apps that have the broadcast capability; nil for all.
    var apps: Set<String>?

    /// A message that broke no rule.
    struct Message: Equatable {
        /// 10 or 5.
        var priority: Int
        /// Seconds since 1970; 0 for one attempt, to the devices that listen now.
        var expiration: Int64
    }

    /// Checks the rules that all broadcast requests share: path, method, identifier and app.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - servesPublishing: Whether messages are published here; else broadcast channels are managed here.
    /// - Returns: The refusal of the first rule broken; nil where the request breaks no rule.
    func check(_ call: BroadcastCall, servesPublishing: Bool) -> Refusal? {
        guard let app = call.path.app else { return .badPath }
        let methods: [String]
        switch (call.path, servesPublishing) {
        case (.publish, true): methods = ["POST"]
        case (.broadcastChannels, false): methods = ["POST", "GET", "DELETE"]
        case (.allBroadcastChannels, false): methods = ["GET"]
        default: return .badPath
        }
        guard let method = call[":method"], methods.contains(method) else { return .methodNotAllowed }
        if let id = call[APNSHeader.requestID], UUIDBytes.parse(id) == nil { return .badMessageID }
        guard GatewayPushType.bundleIdentifier(of: app) == app else { return .topicDisallowed }
        guard app.utf8.count <= DeviceTokenCodec.topicLimit, app.utf8.allSatisfy(PushRules.isTopicByte) else {
            return .badPath
        }
        if let apps, !apps.contains(app) { return .featureNotEnabled }
        return nil
    }

    /// Reads the broadcast channel a request is about.
    ///
    /// - Parameter call: The request.
    /// - Returns: The identifier, or the refusal of one that is missing or malformed.
    func broadcastChannel(of call: BroadcastCall) -> Result<String, BroadcastRefusal> {
        guard let text = call[APNSHeader.channelID], !text.isEmpty else { return .failure(.init(.missingChannelID)) }
        // Whole groups of four: Apple's identifiers are padded.
        guard text.utf8.count <= BroadcastChannelRegistry.identifierLimit, text.utf8.count.isMultiple(of: 4),
            Base64.standard.decode(Array(text.utf8)[...])?.isEmpty == false
        else {
            return .failure(.init(.badChannelID))
        }
        return .success(text)
    }

    /// Reads the body of a request that creates a broadcast channel.
    ///
    /// - Parameter call: The request.
    /// - Returns: Whether the broadcast channel is to store its most recent message, or the refusal of the body.
    func storagePolicy(of call: BroadcastCall) -> Result<Bool, BroadcastRefusal> {
        if call.body.isEmpty { return .failure(.init(.payloadEmpty)) }
        guard !call.isTruncated, let members = JSONReader.members(of: call.body) else {
            return .failure(.init(.badRequestPayload))
        }
        var policy: Bool?
        var pushType: [UInt8]?
        for member in members {
            switch String(decoding: member.name, as: UTF8.self) {
            case "message-storage-policy":
                guard case .number(let digits) = member.value, digits == [0x30] || digits == [0x31] else {
                    return .failure(.init(.missingChannelQueueSize))
                }
                policy = digits == [0x31]
            case "push-type":
                guard case .string(let text) = member.value else { return .failure(.init(.invalidPushType)) }
                pushType = text
            default: return .failure(.init(.badRequestParams))
            }
        }
        guard let policy else { return .failure(.init(.missingChannelQueueSize)) }
        guard let pushType else { return .failure(.init(.missingPushType)) }
        guard Self.isLiveActivity(String(decoding: pushType, as: UTF8.self)) else {
            return .failure(.init(.invalidPushType))
        }
        return .success(policy)
    }

    /// Judges a message for a broadcast channel.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - isStoring: Whether the broadcast channel stores its most recent message.
    /// - Returns: The message, or why it is refused.
    func message(of call: BroadcastCall, isStoring: Bool) -> Result<Message, BroadcastRefusal> {
        guard let type = call[APNSHeader.pushType] else { return .failure(.init(.missingPushType)) }
        guard Self.isLiveActivity(type) else { return .failure(.init(.invalidPushType)) }
        guard let priority = call[APNSHeader.priority].flatMap({ Int($0) }), priority == 10 || priority == 5 else {
            return .failure(.init(.badPriority))
        }
        guard let text = call[APNSHeader.expiration], let expiration = Int64(text), expiration >= 0,
            isStoring || expiration == 0
        else { return .failure(.init(.badExpirationDate)) }
        if call.body.isEmpty { return .failure(.init(.payloadEmpty)) }
        guard !call.isTruncated, call.body.count <= Self.payloadLimit else { return .failure(.init(.payloadTooLarge)) }
        guard JSONReader.isObject(call.body) else { return .failure(.init(.badRequestPayload)) }
        return .success(Message(priority: priority, expiration: expiration))
    }

    /// Apple writes the push type in three ways, which differ in case only.
    private static func isLiveActivity(_ text: String) -> Bool { text.lowercased() == "liveactivity" }
}
