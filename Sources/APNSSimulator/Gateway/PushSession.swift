import EventLoop
import HTTP2
import Text

/// One client's HTTP/2 conversation with the gateway: requests are judged, written down and answered.
final class PushSession: HTTP2GatewayProtocol, HTTP2ServerDelegate {
    /// How much of a request's body is kept, in bytes: enough to see that it is too large.
    static let bodyLimit = 8192

    /// What APNs was seen to say with GOAWAY 7 to a client that opens more streams than it may.
    static let excessStreamText = "Maximum active streams violated for this endpoint."

    /// How much of the connection's window is used before it is given back, in bytes: a sixteenth.
    static let windowStep: Int32 = 4096

    /// What is known of the connection.
    let facts: ConnectionFacts
    /// What all connections share.
    let service: PushService
    /// The connection below.
    weak var carrier: (any GatewayCarrier)?
    /// The HTTP/2 below.
    var session: HTTP2ServerSession?
    /// How many streams are allowed, and how patient the gateway still is.
    var allowance: StreamAllowance
    /// Whether the client was told that the end is near.
    var isEndAnnounced = false
    /// Whether a final GOAWAY of the gateway was sent or waits to be sent.
    var isLeaving = false
    /// The last stream that is served, once ``isLeaving`` is true; nil before.
    var lastServed: Int32?
    /// The GOAWAY that waits for answers; nil for none.
    var farewell: Farewell?
    /// Whether the socket stays open when all is over.
    var staysOpen = false
    /// The headers of an answer. All answers use this one memory.
    var head = HeaderBlock()
    /// The source of identifiers.
    var generator: SplitMix64

    private var credentials: CredentialRegistry.Snapshot
    private var trust: ConnectionTrust
    /// The accounts of token updates, pushes and broadcasts together.
    let accounts: RefreshAccounts
    private var lastAuthorization: [UInt8] = []
    private var lastFacts: ProviderTokenFacts?
    private var lastAdmission: Admission?
    /// Verdicts that a scenario delays, by stream.
    private var delayed: [Int32: (Verdict, Exchange)] = [:]
    private var pushes = 0
    private let pushesUntilGoodbye: Int
    private var lastActivity: Int64
    private lazy var broadcast = BroadcastEndpoint(
        facts, service: service, servesPublishing: true, accounts: accounts)

    /// Starts a conversation; the server's SETTINGS are ready to be sent.
    ///
    /// - Parameters:
    ///   - facts: What is known of the connection.
    ///   - service: Rules, keys, verdicts and ledger, shared by all connections.
    ///   - carrier: The connection below.
    /// - Throws: ``SimulatorError`` where HTTP/2 cannot be set up.
    init(_ facts: ConnectionFacts, service: PushService, carrier: any GatewayCarrier) throws(SimulatorError) {
        self.facts = facts
        self.service = service
        self.carrier = carrier
        credentials = service.credentials.snapshot()
        trust = ConnectionTrust(
            environment: service.configuration.environment, choices: service.configuration.trust)
        accounts = RefreshAccounts(
            service.configuration.trust, shared: service.credentials, interval: facts.limits.tokenUpdateInterval)
        generator = SplitMix64(seed: service.seed(forConnection: facts.number))
        var streams = service.configuration.streams
        if let fixed = facts.plan.streams {
            streams = .fixed(fixed)
        } else if facts.certificate != nil, streams == .asAPNs {
            // Only token connections begin with one stream.
            streams.initial = streams.full
        }
        allowance = StreamAllowance(streams: streams, limits: facts.limits)
        facts.record.allows(streams.initial)
        lastActivity = service.clock.now
        pushesUntilGoodbye = facts.plan.goodbye?.pushes ?? .max
        do {
            session = try HTTP2ServerSession(
                settings: HTTP2Settings(
                    headerTableSize: 4096, maxConcurrentStreams: streams.initial, initialWindowSize: 65_535,
                    maxFrameSize: 16_384, maxHeaderListSize: UInt32(clamping: facts.limits.headerList)),
                bodyLimit: Self.bodyLimit, headerListLimit: facts.limits.headerList, delegate: self)
        } catch {
            throw SimulatorError(.protocol, "cannot start HTTP/2: \(error)")
        }
        session?.windowStep = Self.windowStep
        session?.excessStreamAnswer = (.refusedStream, Array(Self.excessStreamText.utf8))
        begin()
    }

    /// Whether neither side has anything more to say.
    var isFinished: Bool { !staysOpen && session?.isFinished ?? true }

    /// Handles a complete request.
    ///
    /// - Parameter request: Headers and body.
    func received(request: HTTP2Request) {
        facts.record.hasOpen(session?.openStreams ?? 0)
        if service.publishesToBroadcastChannels, BroadcastEndpoint.serves(request), let session {
            if broadcast.answer(request, on: session, now: service.clock.now) { note(.accepted) }
            return
        }
        // The GOAWAY promises that later streams are not processed. Such a request may have come together with the push
        // that caused the GOAWAY.
        if let lastServed, request.streamID > lastServed { return }
        let push = PushRequest(request)
        let now = service.clock.now
        let given = push[.id].flatMap { UUIDBytes.parse($0.span) }
        let id = given ?? .random(using: &generator)
        let exchange = Exchange(
            stream: request.streamID, id: id, uniqueID: .random(using: &generator),
            echoedID: given == nil ? nil : push[.id])
        let finding = judge(push, now: now)
        lastActivity = now
        switch finding {
        case .valid(let valid):
            let verdict = service.verdict(for: valid, now: now, address: facts.address)
            deliver(valid, payload: push.payload, verdict, exchange, now: now)
        case .refused(let refusal):
            service.record(push, id: id, time: now, refusal: refusal, at: (facts.number, exchange.stream))
            carryOut(Verdict(.refuse(refusal)), exchange)
        }
        pushes += 1
        if pushes == pushesUntilGoodbye { leave(facts.plan.goodbye?.frame) }
    }

    /// Sends the GOAWAY that waited for this stream's end. A later answer to this stream has no effect.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: Why it ended.
    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {
        facts.record.hasOpen(session?.openStreams ?? 0)
        sayFarewellOnceAnswered()
    }

    /// The client's GOAWAY needs no action: open streams are still answered.
    ///
    /// - Parameter goAway: The frame.
    func received(goAway: HTTP2GoAway) {}

    /// A ping shows that the connection is in use.
    ///
    /// - Parameter opaque: The number in it.
    func pingReceived(_ opaque: UInt64) { lastActivity = service.clock.now }

    /// Checks whether the time or the service asks for a goodbye.
    func attend() {
        guard !isLeaving else { return }
        if service.isDraining {
            if service.announcesEnd { announceEnd() } else { leave(Verdict.GoAway(reach: .accepted)) }
        } else if isIdle(at: service.clock.now), session?.openStreams == 0 {
            leave(Verdict.GoAway(reason: Refusal.idleTimeout.reason, reach: .accepted))
        }
    }

    private func isIdle(at now: Int64) -> Bool {
        guard let limit = facts.plan.idleTimeout ?? facts.limits.idleTimeout else { return false }
        return now - lastActivity >= limit
    }
}

extension PushSession {
    /// What is needed to answer a request.
    struct Exchange {
        /// The stream.
        var stream: Int32
        /// The identifier answered.
        var id: UUIDBytes
        /// The key of the delivery log.
        var uniqueID: UUIDBytes
        /// The identifier as the client wrote it.
        var echoedID: ArraySlice<UInt8>?
    }

    /// Takes an accepted push to its device, if the simulator has this device. A push that may have to wait for its
    /// device is written before the answer, so that a restart finds it.
    private func deliver(
        _ push: ValidPush, payload: [UInt8], _ verdict: Verdict, _ exchange: Exchange, now: Int64
    ) {
        func settle(_ verdict: Verdict) {
            service.record(
                push, id: exchange.id, payload: payload, time: now, verdict: verdict,
                at: (facts.number, exchange.stream))
            carryOut(verdict, exchange)
        }
        let failure = Verdict(.refuse(.internalServerError))
        guard verdict.status == 200, let devices = service.devices,
            let arrival = devices.arrival(
                of: push, id: exchange.id, uniqueID: exchange.uniqueID, payload: payload, now: now)
        else { return settle(verdict) }
        if case .accept = verdict.action, let carrier {
            carrier.take(arrival) { settle($0 ? verdict : failure) }
        } else {
            // The other verdicts act on the connection as well, so they do not wait for the end of the turn.
            settle(devices.storage.take([arrival]) ? verdict : failure)
        }
    }

    private func carryOut(_ verdict: Verdict, _ exchange: Exchange) {
        facts.record.answered(verdict.status)
        guard verdict.delay > 0 else { return perform(verdict, exchange) }
        delayed[exchange.stream] = (verdict, exchange)
        carrier?.later(milliseconds: verdict.delay) { [weak self] in
            guard let self, delayed.removeValue(forKey: exchange.stream) != nil else { return }
            perform(verdict, exchange)
        }
    }

    /// Sends the answers that wait, because the connection ends now. The ledger has these pushes.
    func streamLimitExceeded() {
        let waiting = delayed.values
        delayed = [:]
        for (verdict, exchange) in waiting {
            switch verdict.action {
            case .accept, .refuse: perform(verdict, exchange)
            default: break
            }
        }
    }

    private func judge(_ push: PushRequest, now: Int64) -> PushRules.Finding {
        if service.isDraining { return .refused(.shutdown) }
        if isIdle(at: now) {
            defer { leave(Verdict.GoAway(reason: Refusal.idleTimeout.reason, reach: .accepted)) }
            return .refused(.idleTimeout)
        }
        if credentials.version != service.credentials.settle(now: now) {
            credentials = service.credentials.snapshot()
            lastFacts = nil
            lastAdmission = nil
        }
        if let certificate = facts.certificate { return judge(push, by: certificate, now: now) }
        switch verifiedFacts(push[.authorization], now: now / 1000) {
        case .refused(let refusal):
            // A client whose token is too old needs another one at once, so its next change is never too early.
            if refusal == .expiredProviderToken { accounts.excuse(lastFacts) }
            return service.rules.check(push, credential: refusal)
        case .valid(let found):
            let admission = lastAdmission ?? admit(found, now: now)
            let finding = service.rules.check(push, credential: admission.refusal)
            if let key = admission.limitedKey, case .valid(let valid) = finding,
                let refusal = trust.refusal(topic: valid.topic, key: key)
            {
                return .refused(refusal)
            }
            return finding
        }
    }

    /// What the connection's history says about a token.
    private struct Admission {
        /// Why it must not be used here; nil where it may.
        var refusal: Refusal?
        /// The key, where it covers certain topics only.
        var limitedKey: ProviderKey?
    }

    /// Judges a verified token by the tokens that were used before. The result is kept while the same token comes,
    /// which is nearly always so.
    private func admit(_ found: ProviderTokenFacts, now: Int64) -> Admission {
        let key = credentials.verifier.key(found.keyID)
        let refusal = trust.admit(found, key: key) ?? accounts.refusal(of: found, now: now)
        if refusal == nil { facts.record.belongs(to: ConnectionRecord.Trust(found)) }
        let admission = Admission(refusal: refusal, limitedKey: key?.topics == nil ? nil : key)
        // A refusal, or an account that other connections share, may change at any time, so such a result is not kept.
        if refusal == nil, service.configuration.trust.refreshScope == .connection { lastAdmission = admission }
        return admission
    }

    /// On a connection with a client certificate a provider token is not looked at.
    private func judge(_ push: PushRequest, by certificate: ClientCertificate, now: Int64) -> PushRules.Finding {
        let credential = certificate.refusal(
            environment: service.configuration.environment, now: now / 1000,
            isRevoked: credentials.revokedCertificates.contains(certificate.serialNumber))
        let finding = service.rules.check(push, credential: credential, onlyTopic: certificate.onlyTopic)
        if case .valid(let valid) = finding,
            let refusal = certificate.refusal(of: valid, choices: service.configuration.trust)
        {
            return .refused(refusal)
        }
        return finding
    }

    /// Verifies a token unless it is the latest good one and the credentials are unchanged: a signature costs more than
    /// everything else here.
    private func verifiedFacts(_ authorization: ArraySlice<UInt8>?, now: Int64) -> ProviderTokenVerifier.Finding {
        if let lastFacts, let authorization, authorization.elementsEqual(lastAuthorization) {
            return credentials.verifier.judgeAge(of: lastFacts, now: now)
        }
        lastAdmission = nil
        let finding = credentials.verifier.verify(authorization.map { Array($0) }, now: now)
        if case .valid(let facts) = finding, let authorization {
            lastAuthorization = Array(authorization)
            lastFacts = facts
        }
        return finding
    }

    /// The token that was verified last; nil before one, and after the credentials changed.
    var latestToken: ProviderTokenFacts? { lastFacts }
}
