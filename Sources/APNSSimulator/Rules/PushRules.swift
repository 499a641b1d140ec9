import Text

/// Apple's rules for the request of a push, apart from its credential.
///
/// Checks run in the order of ``check(_:credential:onlyTopic:)``, and the first broken rule decides the answer. Apple
/// documents no order. APNs was seen to answer 403 to a wrong credential with an arbitrary device token, so the
/// credential comes first.
package struct PushRules {
    /// How long a device token may be, in bytes. Apple says only that the size varies; 32 is the classic one.
    package static let defaultTokenLengths = 32...256

    /// The longest topic in bytes, as long as a worker's routing key can carry.
    static let topicLimit = 200

    /// The longest `apns-collapse-id` in bytes.
    static let collapseIDLimit = 64

    /// How long a device token may be, in bytes (two digits each).
    var tokenLengths = PushRules.defaultTokenLengths

    /// Whether a payload must be one JSON object. What APNs does with other text is not known, so there is a choice.
    var requiresJSONObject = true

    /// What a request turned out to be.
    enum Finding: Equatable {
        /// No rule is broken.
        case valid(ValidPush)
        /// The first broken rule.
        case refused(Refusal)
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credential: Why the credential is refused; nil where it is good.
    ///   - onlyTopic: The topic of a request that names none, from a client certificate with one topic.
    /// - Returns: The push, or the refusal of the first rule broken.
    func check(_ request: PushRequest, credential: Refusal?, onlyTopic: String? = nil) -> Finding {
        if let credential { return .refused(credential) }
        guard let method = request[.method], method.elementsEqual("POST".utf8) else {
            return .refused(.methodNotAllowed)
        }
        let target = request.target
        if target == .unknown { return .refused(.badPath) }
        if request.hasDuplicates { return .refused(.duplicateHeaders) }
        var push = ValidPush(token: [], topic: "", type: .alert, priority: 10)
        if let refusal = readHeaders(of: request, into: &push) { return .refused(refusal) }
        guard case .device(let token) = target else { return .refused(.missingDeviceToken) }
        guard isDeviceToken(token) else { return .refused(.badDeviceToken) }
        push.token = token
        if let refusal = readTopic(of: request, onlyTopic: onlyTopic, into: &push) { return .refused(refusal) }
        if let refusal = payloadRefusal(of: request, limit: push.type.payloadLimit) { return .refused(refusal) }
        return .valid(push)
    }

    private func readHeaders(of request: PushRequest, into push: inout ValidPush) -> Refusal? {
        if let id = request[.id], UUIDBytes.parse(id.span) == nil { return .badMessageID }
        if let text = request[.expiration] {
            guard let expiration = Self.decimal(text) else { return .badExpirationDate }
            push.expiration = expiration
        }
        if let text = request[.priority] {
            guard let priority = Self.decimal(text), priority == 10 || priority == 5 || priority == 1 else {
                return .badPriority
            }
            push.priority = Int(priority)
        }
        if let collapseID = request[.collapseID] {
            guard !collapseID.isEmpty, collapseID.count <= Self.collapseIDLimit else { return .badCollapseID }
            push.collapseID = Array(collapseID)
        }
        if let text = request[.pushType] {
            guard let type = GatewayPushType(rawValue: String(decoding: text, as: UTF8.self)) else {
                return .invalidPushType
            }
            push.type = type
            // Only an explicit 10 is refused: requests without the header are seen to work.
            if type == .background, request[.priority] != nil, push.priority == 10 { return .badPriority }
        }
        return nil
    }

    private func readTopic(of request: PushRequest, onlyTopic: String?, into push: inout ValidPush) -> Refusal? {
        if let text = request[.topic], !text.isEmpty {
            guard Self.isTopic(text) else { return .badTopic }
            push.topic = String(decoding: text, as: UTF8.self)
        } else {
            guard let onlyTopic else { return .missingTopic }
            push.topic = onlyTopic
        }
        if request[.pushType] == nil {
            push.type = .implied(by: push.topic)
        } else if !push.type.accepts(topic: push.topic) {
            return .deviceTokenNotForTopic
        }
        return nil
    }

    private func payloadRefusal(of request: PushRequest, limit: Int) -> Refusal? {
        if request.payload.isEmpty { return .payloadEmpty }
        if request.isTruncated || request.payload.count > limit { return .payloadTooLarge }
        if requiresJSONObject, !JSONReader.isObject(request.payload) { return .payloadEmpty }
        return nil
    }

    private func isDeviceToken(_ token: [UInt8]) -> Bool {
        token.count.isMultiple(of: 2) && tokenLengths.contains(token.count / 2) && HexText.isHex(token)
    }

    /// Tells whether text can be a topic.
    ///
    /// - Parameter text: UTF-8 bytes.
    /// - Returns: Whether its length and all its bytes are allowed.
    static func isTopic(_ text: some Collection<UInt8>) -> Bool {
        !text.isEmpty && text.count <= topicLimit && text.allSatisfy(isTopicByte)
    }

    /// Whether a byte may stand in a topic.
    ///
    /// - Parameter byte: Any byte.
    static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func decimal(_ text: ArraySlice<UInt8>) -> Int64? {
        guard !text.isEmpty, text.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
    }
}
