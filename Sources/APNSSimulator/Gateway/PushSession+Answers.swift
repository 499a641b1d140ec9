import HTTP2
import Text

/// How verdicts reach the client.
extension PushSession {
    /// How long a connection stays open after a GOAWAY that leaves its push unanswered, in milliseconds.
    static let lingering = 100

    /// How long a GOAWAY waits at most for answers to the streams it covers, in milliseconds.
    static let answersFirst = 100

    /// How long new streams are still answered after the end was announced, in milliseconds. The answer is `Shutdown`.
    static let endGrace = 500

    /// How long open streams may take to end after a GOAWAY that waits for them, in milliseconds.
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
        case .gateway(let stranger):
            answer(exchange, inPlaceOfAPNs: stranger)
            note(.neutral)
        case .lose(.silent): note(.neutral)
        case .lose(.reset): session?.reset(streamID: exchange.stream, .internalError)
        case .lose(.close): carrier?.close()
        case .freeze(let milliseconds):
            // The answer is prepared before a freeze of limited time, and sent after it.
            if milliseconds != nil { answer(exchange, refusal: nil) }
            carrier?.freeze(milliseconds: milliseconds)
        }
        // The outcome of this push may have changed the scripted number. The outcomes of later pushes may change it.
        if let streams = verdict.streams, allowance.current != streams { announce(streams) }
    }

    /// Says goodbye in a way that lets open streams end.
    ///
    /// - Parameter frame: The frame; nil for nothing.
    func leave(_ frame: Verdict.GoAway?) {
        guard let frame, !isLeaving else { return }
        isLeaving = true
        staysOpen = frame.staysOpen
        // Streams that are never answered must not keep the connection for ever.
        let patience = frame.staysOpen ? nil : Self.drainLimit
        send(Farewell(frame: frame, last: session?.lastStreamID ?? 0, patience: patience))
    }

    /// Tells the client to open no more streams, and sends the final GOAWAY after ``endGrace``. Streams that were on
    /// their way are answered in between.
    ///
    /// See [RFC 9113 section 6.8](https://www.rfc-editor.org/rfc/rfc9113#section-6.8) for an end in two steps.
    func announceEnd() {
        guard !isEndAnnounced else { return }
        isEndAnnounced = true
        session?.goAway(lastStreamID: .max, .noError)
        carrier?.later(milliseconds: Self.endGrace) { [weak self] in self?.leave(Verdict.GoAway(reach: .accepted)) }
    }

    /// Sends a GOAWAY behind the answers to the streams it covers.
    ///
    /// HTTP/2 allows an answer to end after the GOAWAY, but clients are seen to lose such an answer. Streams above the
    /// last one that the GOAWAY covers are not served from now on.
    private func send(_ next: Farewell) {
        sayFarewell()
        let last = min(lastServed ?? next.last, next.last)
        lastServed = last
        farewell = next
        farewell?.last = last
        sayFarewellOnceAnswered()
        guard farewell != nil else { return }
        carrier?.later(milliseconds: Self.answersFirst) { [weak self] in self?.sayFarewell() }
    }

    /// Sends the GOAWAY that waits, if the streams that it covers are over, except those that get no answer.
    func sayFarewellOnceAnswered() {
        guard let farewell, let session, session.openStreams(upTo: farewell.last) <= farewell.unanswered else { return }
        sayFarewell()
    }

    private func sayFarewell() {
        guard let said = farewell else { return }
        farewell = nil
        for _ in 0..<(said.frame.isRepeated ? 2 : 1) {
            session?.goAway(
                lastStreamID: said.last, HTTP2ErrorCode(rawValue: said.frame.code), debugData: said.frame.debugData)
        }
        guard let patience = said.patience else { return }
        carrier?.later(milliseconds: patience) { [weak self] in self?.carrier?.end() }
    }

    /// Sends a GOAWAY for a certificate of the other environment, if so chosen: APNs was seen to send it once or twice.
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

    /// Changes the number of streams after an outcome, or says goodbye.
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
        // Each identifier occurs once, so none of them belongs in the client's compression table.
        if let echoed = exchange.echoedID {
            head.append(APNSHeader.id, echoed.span, .notIndexed)
        } else {
            append(APNSHeader.id, exchange.id)
        }
        if service.configuration.environment == .development { append(APNSHeader.uniqueID, exchange.uniqueID) }
        if refusal != nil { head.append("content-type", "application/json") }
        if service.configuration.sendsDate {
            head.append("date", HTTPDate.text(milliseconds: service.clock.now).utf8Span.span)
        }
        if let seconds = refusal?.retryAfter { head.append("retry-after", Array(String(seconds).utf8).span) }
        session?.respond(streamID: exchange.stream, head, body: refusal?.body ?? [])
        note(StreamAllowance.Outcome(refusal))
    }

    private func answer(_ exchange: Exchange, inPlaceOfAPNs stranger: Verdict.Stranger) {
        head.removeAll()
        head.append(":status", Array(String(stranger.status).utf8).span)
        if !stranger.body.isEmpty { head.append("content-type", "text/html") }
        session?.respond(streamID: exchange.stream, head, body: Array(stranger.body.utf8))
    }

    private func append(_ name: StaticString, _ id: UUIDBytes) {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        id.append(to: &text)
        head.append(name, text.span, .notIndexed)
    }

    private func sayGoodbye(_ frame: Verdict.GoAway, _ exchange: Exchange) {
        isLeaving = true
        staysOpen = frame.staysOpen
        var farewell = Farewell(frame: frame, last: exchange.stream)
        switch frame.reach {
        case .accepted: answer(exchange, refusal: nil)
        // Clients' streams are odd; the one before is two below.
        case .before: farewell.last = max(0, exchange.stream - 2)
        case .unanswered: farewell.unanswered = 1
        }
        if frame.reach != .accepted, !frame.staysOpen { farewell.patience = Self.lingering }
        send(farewell)
    }
}

extension PushSession {
    /// A GOAWAY that goes out behind the answers to the streams it covers.
    struct Farewell {
        /// The frame.
        var frame: Verdict.GoAway
        /// The last stream that is served.
        var last: Int32
        /// How many of the streams up to ``last`` get no answer.
        var unanswered = 0
        /// How long after the frame the connection ends even if streams are open, in milliseconds; nil for no such end.
        var patience: Int?
    }
}
