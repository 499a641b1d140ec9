import HTTP2
import Text

/// Answers the broadcast requests of one connection: publishing on the gateway or on a port of its own, management on
/// the management port.
struct BroadcastEndpoint {
    private let facts: ConnectionFacts
    private var credentials: CredentialRegistry.Snapshot
    private let service: PushService
    private let rules: BroadcastRules
    private let servesPublishing: Bool
    private var trust: ConnectionTrust
    private let accounts: RefreshAccounts
    private var lastAuthorization: [UInt8] = []
    private var lastFacts: ProviderTokenFacts?

    /// Prepares for a connection.
    ///
    /// - Parameters:
    ///   - facts: What is known of the connection.
    ///   - service: What all connections share.
    ///   - servesPublishing: Whether messages are published here; else broadcast channels are managed here.
    ///   - accounts: The connection's accounts of token updates; nil to make new ones.
    init(
        _ facts: ConnectionFacts, service: PushService, servesPublishing: Bool, accounts: RefreshAccounts? = nil
    ) {
        self.facts = facts
        credentials = service.credentials.snapshot()
        self.service = service
        self.servesPublishing = servesPublishing
        rules = BroadcastRules(apps: service.configuration.devices.broadcastApps)
        self.accounts =
            accounts
            ?? RefreshAccounts(
                service.configuration.trust, shared: service.credentials, interval: facts.limits.tokenUpdateInterval)
        trust = ConnectionTrust(
            environment: service.configuration.environment, choices: service.configuration.trust)
    }

    /// Whether a request on the gateway publishes to a broadcast channel.
    ///
    /// - Parameter request: The request.
    static func serves(_ request: HTTP2Request) -> Bool {
        request.value(of: ":path").map { request.headerBytes[$0].starts(with: BroadcastPath.publishPrefix) } ?? false
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - session: Where the answer goes.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Whether its credential, a provider token or a certificate, was accepted. False while the service goes
    ///   down.
    @discardableResult
    mutating func answer(_ request: HTTP2Request, on session: HTTP2ServerSession, now: Int64) -> Bool {
        let call = BroadcastCall(request)
        let given = call[APNSHeader.requestID].flatMap { UUIDBytes.parse($0) }
        let id = given ?? .random()
        let echoed = given == nil ? id.description : call[APNSHeader.requestID] ?? id.description
        var headers = [("\(APNSHeader.requestID)", echoed)]
        let credential = service.isDraining ? .shutdown : credentialRefusal(call, now: now)
        var result = Result<Answer, BroadcastRefusal>.failure(BroadcastRefusal(credential ?? .internalServerError))
        if credential == nil { result = judge(call, id: id, now: now) }
        if service.configuration.sendsDate { headers.append(("date", HTTPDate.text(milliseconds: now))) }
        var status = 0
        var body: [UInt8] = []
        switch result {
        case .success(let answer):
            status = answer.status
            headers += answer.headers
            body = answer.body
        case .failure(let failure):
            // A client that gets this refusal needs a new token at once, which must not count as too early.
            if failure.refusal == .expiredProviderToken { accounts.excuse(lastFacts) }
            status = failure.refusal.status
            body = failure.refusal.body
        }
        if !body.isEmpty { headers.append(("content-type", "application/json")) }
        service.ledger.record(
            token: [], id: id, topic: call.path.app ?? "", payload: call.body, time: now, status: status,
            label: status < 300 ? "" : Self.reason(of: result), connection: facts.number, stream: request.streamID)
        facts.record.answered(status)
        session.respond(streamID: request.streamID, status: status, headers: headers, body: body)
        return credential == nil
    }

    private struct Answer {
        var status: Int
        var headers: [(String, String)] = []
        var body: [UInt8] = []
    }

    private static func reason(of result: Result<Answer, BroadcastRefusal>) -> String {
        if case .failure(let failure) = result { failure.refusal.reason } else { "" }
    }

    private mutating func credentialRefusal(_ call: BroadcastCall, now: Int64) -> Refusal? {
        if credentials.version != service.credentials.settle(now: now) {
            credentials = service.credentials.snapshot()
            lastFacts = nil
        }
        if let certificate = facts.certificate {
            let refusal = certificate.refusal(
                environment: service.configuration.environment, now: now / 1000,
                isRevoked: credentials.revokedCertificates.contains(certificate.serialNumber))
            guard refusal == nil, let app = call.path.app else { return refusal }
            return certificate.topics.contains(app) ? nil : .topicMismatch
        }
        let facts: ProviderTokenFacts
        switch verifiedFacts(call.authorization, now: now / 1000) {
        case .refused(let refusal): return refusal
        case .valid(let found): facts = found
        }
        let key = credentials.verifier.key(facts.keyID)
        if let refusal = trust.admit(facts, key: key) ?? accounts.refusal(of: facts, now: now) { return refusal }
        self.facts.record.belongs(to: ConnectionRecord.Trust(facts))
        guard let app = call.path.app, trust.refusal(topic: app, key: key) != nil else { return nil }
        return .topicMismatch
    }

    /// Verifies a provider token, unless it is the connection's last one and no key or revocation changed since.
    ///
    /// The check of a signature costs more than the rest of a request.
    private mutating func verifiedFacts(_ authorization: [UInt8]?, now: Int64) -> ProviderTokenVerifier.Finding {
        if let lastFacts, let authorization, authorization == lastAuthorization {
            return credentials.verifier.judgeAge(of: lastFacts, now: now)
        }
        let finding = credentials.verifier.verify(authorization, now: now)
        if case .valid(let facts) = finding, let authorization {
            lastAuthorization = authorization
            lastFacts = facts
        }
        return finding
    }

    private func judge(_ call: BroadcastCall, id: UUIDBytes, now: Int64) -> Result<Answer, BroadcastRefusal> {
        if let refusal = rules.check(call, servesPublishing: servesPublishing) { return .failure(.init(refusal)) }
        guard let devices = service.devices else { return .failure(.init(.featureNotEnabled)) }
        guard service.admitsBroadcastChannelRequest(of: call.path.app ?? "", now: now) else {
            return .failure(.init(.tooManyRequests))
        }
        switch call.path {
        case .publish(let app): return publish(call, app, devices, id: id, now: now)
        case .allBroadcastChannels(let app):
            return .success(Answer(status: 200, body: Self.list(devices.broadcastChannels.identifiers(of: app))))
        case .broadcastChannels(let app):
            if call[":method"] == "POST" { return create(call, app, devices, now: now) }
            return rules.broadcastChannel(of: call).flatMap { identifier in
                let address = BroadcastChannelAddress(app: app, identifier: identifier)
                if call[":method"] == "DELETE" {
                    guard let isDeleted = try? devices.broadcastChannels.delete(address) else {
                        return .failure(.init(.internalServerError))
                    }
                    return isDeleted ? .success(Answer(status: 204)) : .failure(.init(.channelNotRegistered))
                }
                guard let found = devices.broadcastChannels.find(address) else {
                    return .failure(.init(.channelNotRegistered))
                }
                let text = "{\"message-storage-policy\":\(found.isStoring ? 1 : 0),\"push-type\":\"LiveActivity\"}"
                return .success(Answer(status: 200, body: Array(text.utf8)))
            }
        case .unknown: return .failure(.init(.badPath))
        }
    }

    private func create(
        _ call: BroadcastCall, _ app: String, _ devices: DeviceService, now: Int64
    ) -> Result<Answer, BroadcastRefusal> {
        rules.storagePolicy(of: call).flatMap { isStoring in
            do throws(SimulatorError) {
                guard let identifier = try devices.broadcastChannels.create(app: app, isStoring: isStoring, now: now)
                else {
                    return .failure(.init(.cannotCreateChannelConfig))
                }
                return .success(Answer(status: 201, headers: [("\(APNSHeader.channelID)", identifier)]))
            } catch {
                return .failure(.init(.internalServerError))
            }
        }
    }

    private func publish(
        _ call: BroadcastCall, _ app: String, _ devices: DeviceService, id: UUIDBytes, now: Int64
    ) -> Result<Answer, BroadcastRefusal> {
        rules.broadcastChannel(of: call).flatMap { identifier in
            let address = BroadcastChannelAddress(app: app, identifier: identifier)
            guard let broadcastChannel = devices.broadcastChannels.find(address) else {
                return .failure(.init(.channelNotRegistered))
            }
            guard devices.hasRoom else { return .failure(.init(.broadcastUnavailable)) }
            return rules.message(of: call, isStoring: broadcastChannel.isStoring).flatMap { message in
                let scripted = service.verdict(
                    for: ValidPush(
                        token: [], topic: app, type: .liveactivity, priority: message.priority,
                        expiration: message.expiration), now: now)
                if case .refuse(let refusal) = scripted.action { return .failure(.init(refusal)) }
                let uniqueID = UUIDBytes.random()
                guard
                    devices.broadcastChannels.publish(
                        message, payload: call.body, to: broadcastChannel, id: id, uniqueID: uniqueID, now: now)
                else { return .failure(.init(.internalServerError)) }
                let isDevelopment = service.configuration.environment == .development
                return .success(
                    Answer(
                        status: 200, headers: isDevelopment ? [("\(APNSHeader.uniqueID)", uniqueID.description)] : []))
            }
        }
    }

    private static func list(_ identifiers: [String]) -> [UInt8] {
        // Base64 needs no escapes.
        Array("{\"channels\":[\(identifiers.map { "\"\($0)\"" }.joined(separator: ","))]}".utf8)
    }
}
