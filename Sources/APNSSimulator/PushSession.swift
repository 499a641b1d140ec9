internal import EventLoop
internal import HTTP2

/// One client's HTTP/2 conversation with the gateway: requests are judged, written down and answered.
final class PushSession: GatewayProtocol, HTTP2ServerDelegate {
    /// How much of a request's body is kept, in bytes: enough to see that it is too large.
    static let bodyLimit = 8192

    /// The header list that APNs announces as its limit, in bytes by the count of RFC 9113.
    static let headerListLimit = 8000

    /// How long a connection lives on after a GOAWAY that leaves a push unanswered, in milliseconds.
    static let lingering = 100

    private let number: Int
    private let service: PushService
    private weak var carrier: (any GatewayCarrier)?
    private var session: HTTP2ServerSession?
    private var trust: ConnectionTrust
    private var generator: SplitMix64
    private var head = HeaderBlock()
    private var hasGrown = false
    private var lastAuthorization: [UInt8] = []
    private var lastFacts: ProviderTokenFacts?
    private lazy var broadcast = BroadcastEndpoint(number: number, service: service, servesPublishing: true)

    /// Starts a conversation; the server's SETTINGS are ready to be sent.
    ///
    /// - Parameters:
    ///   - number: Which connection, for the ledger.
    ///   - service: Rules, keys, verdicts and ledger, shared by all connections.
    ///   - carrier: The connection below.
    /// - Throws: ``SimulatorError`` where HTTP/2 cannot be set up.
    init(number: Int, service: PushService, carrier: any GatewayCarrier) throws(SimulatorError) {
        self.number = number
        self.service = service
        self.carrier = carrier
        trust = ConnectionTrust(environment: service.configuration.environment)
        generator = SplitMix64(seed: service.seed(forConnection: number))
        do {
            session = try HTTP2ServerSession(
                settings: HTTP2Settings(
                    headerTableSize: 4096, maxConcurrentStreams: service.configuration.streams.initial,
                    initialWindowSize: 65_535, maxFrameSize: 16_384, maxHeaderListSize: UInt32(Self.headerListLimit)),
                bodyLimit: Self.bodyLimit, headerListLimit: Self.headerListLimit, delegate: self)
        } catch {
            throw SimulatorError(.protocol, "cannot start HTTP/2: \(error)")
        }
    }

    /// Whether there are bytes to send.
    var wantsToSend: Bool { session?.wantsToSend ?? false }

    /// Whether neither side has anything more to say.
    var isFinished: Bool { session?.isFinished ?? true }

    /// Takes bytes from the client; requests that become complete are handled at once.
    ///
    /// - Parameter bytes: What came out of TLS.
    /// - Throws: ``SimulatorError`` where the client broke the protocol.
    func receive(_ bytes: Span<UInt8>) throws(SimulatorError) {
        do {
            try session?.receive(bytes)
        } catch {
            throw SimulatorError(.protocol, "\(error)")
        }
    }

    /// Appends frames for the client.
    ///
    /// - Parameters:
    ///   - output: Receives them.
    ///   - limit: About how many bytes at most.
    /// - Throws: ``SimulatorError`` where the connection is dead.
    func send(into output: inout [UInt8], upTo limit: Int) throws(SimulatorError) {
        do {
            try session?.send(into: &output, upTo: limit)
        } catch {
            throw SimulatorError(.protocol, "\(error)")
        }
    }

    /// Handles a complete request.
    ///
    /// - Parameter request: Headers and body.
    func received(request: HTTP2Request) {
        if service.publishesToChannels, BroadcastEndpoint.serves(request), let session {
            if broadcast.answer(request, on: session, now: WallClock.milliseconds()) { grow() }
            return
        }
        let push = PushRequest(request)
        let now = WallClock.milliseconds()
        let given = push[.id].flatMap { MessageID(parsing: $0) }
        let id = given ?? .random(using: &generator)
        let exchange = Exchange(
            stream: request.streamID, id: id, uniqueID: .random(using: &generator),
            echoedID: given == nil ? nil : push[.id])
        let verdict: Verdict
        switch judge(push, now: now) {
        case .valid(let valid):
            verdict = service.verdict(for: valid, now: now)
            service.record(
                valid, id: id, uniqueID: exchange.uniqueID, payload: push.payload, time: now, verdict: verdict,
                at: (number, exchange.stream))
        case .refused(let refusal):
            verdict = Verdict(.refuse(refusal))
            service.record(push, id: id, time: now, refusal: refusal, at: (number, exchange.stream))
        }
        if verdict.delay > 0 {
            carrier?.later(milliseconds: verdict.delay) { [weak self] in self?.perform(verdict.action, exchange) }
        } else {
            perform(verdict.action, exchange)
        }
    }

    /// A stream's end needs no action: an answer to a stream that is gone goes nowhere.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: Why it ended.
    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {}

    /// The client's GOAWAY needs no action: open streams are still answered.
    ///
    /// - Parameter goAway: The frame.
    func received(goAway: HTTP2GoAway) {}
}

extension PushSession {
    private struct Exchange {
        var stream: Int32
        var id: MessageID
        var uniqueID: MessageID
        var echoedID: ArraySlice<UInt8>?
    }

    private func judge(_ push: PushRequest, now: Int64) -> PushRules.Finding {
        let facts: ProviderTokenFacts
        switch verifiedFacts(push[.authorization], now: now / 1000) {
        case .refused(let refusal): return service.rules.check(push, credential: refusal)
        case .valid(let found): facts = found
        }
        let key = service.verifier.key(facts.keyID)
        let admission = trust.admit(facts, key: key)
        if admission == nil { grow() }
        let finding = service.rules.check(push, credential: admission)
        if case .valid(let valid) = finding, let refusal = trust.refusal(topic: valid.topic, key: key) {
            return .refused(refusal)
        }
        return finding
    }

    /// A signature costs more than everything else here, so the same token is verified once per connection.
    private func verifiedFacts(_ authorization: ArraySlice<UInt8>?, now: Int64) -> ProviderTokenVerifier.Finding {
        if let lastFacts, let authorization, authorization.elementsEqual(lastAuthorization) {
            return service.verifier.judgeAge(of: lastFacts, now: now)
        }
        let finding = service.verifier.verify(authorization.map { Array($0) }, now: now)
        if case .valid(let facts) = finding, let authorization {
            lastAuthorization = Array(authorization)
            lastFacts = facts
        }
        return finding
    }

    /// APNs allows one stream until the first request with a valid token.
    private func grow() {
        guard !hasGrown else { return }
        hasGrown = true
        guard service.configuration.streams.full != service.configuration.streams.initial else { return }
        // A number of streams is always a valid setting, so this cannot fail.
        try? session?.submit(
            settings: HTTP2Settings(maxConcurrentStreams: service.configuration.streams.full))
    }

    private func perform(_ action: Verdict.Action, _ exchange: Exchange) {
        switch action {
        case .accept: answer(exchange, refusal: nil)
        case .refuse(let refusal): answer(exchange, refusal: refusal)
        case .silent: break
        case .reset(let code): session?.reset(streamID: exchange.stream, HTTP2ErrorCode(rawValue: code))
        case .goAway(let frame): sayGoodbye(frame, exchange)
        case .close: carrier?.close()
        }
    }

    private func answer(_ exchange: Exchange, refusal: Refusal?) {
        head.removeAll()
        if let refusal {
            head.append(":status", Array(String(refusal.status).utf8).span)
        } else {
            head.append(":status", "200")
        }
        // Each identifier is seen once, so none of them belongs into the client's compression table.
        if let echoed = exchange.echoedID {
            head.append("apns-id", echoed.span, .notIndexed)
        } else {
            append("apns-id", exchange.id)
        }
        if service.configuration.environment == .development { append("apns-unique-id", exchange.uniqueID) }
        if refusal != nil { head.append("content-type", "application/json") }
        if let seconds = refusal?.retryAfter { head.append("retry-after", Array(String(seconds).utf8).span) }
        session?.respond(streamID: exchange.stream, head, body: refusal?.body ?? [])
    }

    private func append(_ name: StaticString, _ id: MessageID) {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        id.append(to: &text)
        head.append(name, text.span, .notIndexed)
    }

    private func sayGoodbye(_ frame: Verdict.GoAway, _ exchange: Exchange) {
        var last = exchange.stream
        switch frame.reach {
        case .accepted: answer(exchange, refusal: nil)
        // Clients' streams are odd; the one before is two below.
        case .before: last = max(0, exchange.stream - 2)
        case .unanswered: break
        }
        let debugData = frame.reason.map { Refusal(0, $0).body } ?? []
        session?.goAway(
            lastStreamID: last, HTTP2ErrorCode(rawValue: frame.code), debugData: debugData)
        if frame.reach != .accepted {
            // Time for the frame to be read: closing at once could destroy it on the way.
            carrier?.later(milliseconds: Self.lingering) { [weak self] in self?.carrier?.close() }
        }
    }
}
