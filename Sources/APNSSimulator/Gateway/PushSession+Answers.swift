internal import HTTP2

/// How verdicts reach the client.
extension PushSession {
    /// How long a connection lives on after a GOAWAY that leaves a push unanswered, in milliseconds.
    static let lingering = 100

    /// How long new streams are still answered after the end was announced, in milliseconds: with `Shutdown`.
    static let endGrace = 500

    /// How long streams may take to end after a GOAWAY that lets them, in milliseconds.
    static let drainLimit = 5_000

    /// Prepares what the plan of the connection asks for.
    func begin() {
        if let certificate = facts.certificate { greet(certificate) }
        if let goodbye = facts.plan.goodbye, let wait = goodbye.milliseconds {
            carrier?.later(milliseconds: Int(wait)) { [weak self] in self?.leave(goodbye.frame) }
        }
        if let wait = facts.plan.closeAfter {
            carrier?.later(milliseconds: Int(wait)) { [weak self] in self?.carrier?.close() }
        }
        watchIdleness()
    }

    /// Carries out a verdict.
    ///
    /// - Parameters:
    ///   - verdict: What to do.
    ///   - exchange: The request it is for.
    func perform(_ verdict: Verdict, _ exchange: Exchange) {
        if let streams = verdict.streams { announce(streams) }
        switch verdict.action {
        case .accept: answer(exchange, refusal: nil)
        case .refuse(let refusal): answer(exchange, refusal: refusal)
        case .silent: note(.neutral)
        case .reset(let code):
            session?.reset(streamID: exchange.stream, HTTP2ErrorCode(rawValue: code))
            note(.neutral)
        case .goAway(let frame): sayGoodbye(frame, exchange)
        case .close: carrier?.close()
        case .lose(.silent): note(.neutral)
        case .lose(.reset): session?.reset(streamID: exchange.stream, .internalError)
        case .lose(.close): carrier?.close()
        case .freeze(let milliseconds):
            // What hangs only for a time is answered when it goes on.
            if milliseconds != nil { answer(exchange, refusal: nil) }
            carrier?.freeze(milliseconds: milliseconds)
        }
        // A scripted number holds until a push is accepted after this one.
        if let streams = verdict.streams, allowance.current != streams { announce(streams) }
    }

    /// Says goodbye in a way that lets open streams end.
    ///
    /// - Parameter frame: The frame; nil for nothing.
    func leave(_ frame: Verdict.GoAway?) {
        guard let frame, !isLeaving else { return }
        isLeaving = true
        staysOpen = frame.staysOpen
        send(frame, lastStream: nil)
        if !frame.staysOpen {
            // Streams that are never answered must not keep the connection for ever.
            carrier?.later(milliseconds: Self.drainLimit) { [weak self] in self?.carrier?.end() }
        }
    }

    /// Tells the client to open no more streams, and says goodbye when what was on its way is answered.
    ///
    /// See [RFC 9113 section 6.8](https://www.rfc-editor.org/rfc/rfc9113#section-6.8) for an end in two steps.
    func announceEnd() {
        guard !isEndAnnounced else { return }
        isEndAnnounced = true
        session?.goAway(lastStreamID: .max, .noError)
        carrier?.later(milliseconds: Self.endGrace) { [weak self] in self?.leave(Verdict.GoAway(reach: .accepted)) }
    }

    private func send(_ frame: Verdict.GoAway, lastStream: Int32?) {
        promise(lastStream ?? session?.lastStreamID ?? 0)
        for _ in 0..<(frame.isRepeated ? 2 : 1) {
            session?.goAway(
                lastStreamID: lastStream, HTTP2ErrorCode(rawValue: frame.code), debugData: frame.debugData)
        }
    }

    /// Remembers which streams are still served, now that the client is told.
    private func promise(_ last: Int32) { lastServed = min(lastServed ?? last, last) }

    /// A certificate of the other environment was seen to be told by GOAWAY, once or twice.
    private func greet(_ certificate: ClientCertificate) {
        let answer = service.configuration.trust.certificateEnvironment
        let refusal = certificate.refusal(
            environment: service.configuration.environment, now: service.clock.now / 1000, isRevoked: false)
        guard answer != .answer, refusal == .badCertificateEnvironment else { return }
        var frame = Verdict.GoAway(reason: Refusal.badCertificateEnvironment.reason, reach: .accepted)
        frame.isRepeated = answer == .goawayTwice
        leave(frame)
    }

    private func watchIdleness() {
        guard let limit = facts.plan.idleTimeout ?? facts.limits.idleTimeout else { return }
        carrier?.later(milliseconds: Int(limit)) { [weak self] in
            guard let self, !self.isLeaving else { return }
            self.attend()
            self.watchIdleness()
        }
    }

    private func announce(_ streams: UInt32) {
        allowance.announced(streams)
        facts.record.allows(streams)
        // A number of streams is always a valid setting, so this cannot fail.
        try? session?.submit(settings: HTTP2Settings(maxConcurrentStreams: streams))
    }

    /// Lets the number of streams follow an outcome.
    ///
    /// - Parameter outcome: What became of a request.
    func note(_ outcome: StreamAllowance.Outcome) {
        switch allowance.note(outcome) {
        case .none: break
        case .announce(let streams): announce(streams)
        case .disconnect(let refusal): leave(Verdict.GoAway(reason: refusal.reason, reach: .accepted))
        }
    }

    private func answer(_ exchange: Exchange, refusal: Refusal?) {
        head.removeAll()
        if let refusal {
            head.append(":status", Array(String(refusal.status).utf8).span)
            if refusal == .expiredProviderToken { accounts.excuse(latestToken) }
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
        if service.configuration.sendsDate {
            head.append("date", HTTPDate.text(milliseconds: service.clock.now).utf8Span.span)
        }
        if let seconds = refusal?.retryAfter { head.append("retry-after", Array(String(seconds).utf8).span) }
        session?.respond(streamID: exchange.stream, head, body: refusal?.body ?? [])
        note(StreamAllowance.Outcome(refusal))
    }

    private func append(_ name: StaticString, _ id: MessageID) {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        id.append(to: &text)
        head.append(name, text.span, .notIndexed)
    }

    private func sayGoodbye(_ frame: Verdict.GoAway, _ exchange: Exchange) {
        isLeaving = true
        staysOpen = frame.staysOpen
        var last = exchange.stream
        switch frame.reach {
        case .accepted: answer(exchange, refusal: nil)
        // Clients' streams are odd; the one before is two below.
        case .before: last = max(0, exchange.stream - 2)
        case .unanswered: break
        }
        send(frame, lastStream: last)
        if frame.reach != .accepted, !frame.staysOpen {
            carrier?.later(milliseconds: Self.lingering) { [weak self] in self?.carrier?.end() }
        }
    }
}
