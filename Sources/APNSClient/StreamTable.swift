import EventLoop
import HTTP2
import PushModel
import Text

/// The open requests of one connection, and what has arrived of their answers.
///
/// The state of a push lies in arrays indexed by slot, and slots are reused. So a push that succeeds allocates nothing,
/// unless its answer has an `apns-unique-id`. HTTP/2 knows a stream by its slot, not by the caller's tag. So the caller
/// may reuse a tag as soon as it has the answer.
final class StreamTable: HTTP2ClientDelegate {
    private struct Stream {
        var tag = 0
        var streamID: Int32 = 0
        /// The HTTP status that was received; 0 before.
        var status: Int32 = 0
        /// The `Retry-After` header in seconds; -1 if none was received.
        var retryAfter: Int32 = -1
        var submittedAt = MonotonicTime(nanoseconds: 0)
        var isTimedOut = false
        var hasUniqueID = false
        var hasBody = false
        /// Whether the answer has the identifier that APNs sends with every answer.
        var isSigned = false
        /// The kind of request.
        var operation = BroadcastChannelOperation.push
    }

    /// Most bytes of an `apns-unique-id`, which is a UUID.
    static let uniqueIDLimit = 128
    /// How often the `date` header is looked at.
    private static let dateInterval = Duration.seconds(60)

    /// Receives the events of the table. The owner outlives the table.
    unowned var owner: (any StreamTableOwner)?
    /// The time of the event being handled.
    var now = MonotonicTime(nanoseconds: 0)
    /// How far our clock is ahead of the peer's, in seconds; nil before a `date` header arrived.
    private(set) var clockSkew: Int64?

    private var streams: [Stream] = []
    private var bodies: [[UInt8]] = []
    private var uniqueIDs: [[UInt8]] = []
    private var free: [Int] = []
    /// The broadcast channels that answers named, by slot; requests about them are rare.
    private var channelIDs: [Int: [UInt8]] = [:]
    private var deadlines = DeadlineList()
    private var nextDate = MonotonicTime(nanoseconds: 0)
    private let time: any TimeSource

    /// A table without requests.
    ///
    /// - Parameter time: The clocks that the peer's dates are compared with.
    init(_ time: any TimeSource) { self.time = time }

    /// When the oldest request runs out of time.
    var nextDue: MonotonicTime? { deadlines.nextDue }

    /// Takes a slot for a request that is about to be submitted.
    func take(tag: Int, operation: BroadcastChannelOperation = .push, due: MonotonicTime) -> Int {
        let slot: Int
        if let last = free.popLast() {
            slot = last
        } else {
            slot = streams.count
            streams.append(Stream())
            bodies.append([])
            uniqueIDs.append([])
        }
        streams[slot] = Stream(tag: tag, submittedAt: now, operation: operation)
        deadlines.append(slot, due: due)
        return slot
    }

    /// Notes the number of the stream that a request got.
    func opened(_ slot: Int, streamID: Int32) { streams[slot].streamID = streamID }

    /// Gives back the slot of a request that was not submitted after all.
    func cancel(_ slot: Int) {
        deadlines.remove(slot)
        free.append(slot)
    }

    /// Takes the next request whose time has run out. The request ends once its stream was reset.
    ///
    /// - Returns: The stream to be reset.
    func popTimedOut(now: MonotonicTime) -> Int32? {
        guard let slot = deadlines.popDue(now: now) else { return nil }
        streams[slot].isTimedOut = true
        return streams[slot].streamID
    }

    // MARK: What HTTP/2 reports

    func response(tag slot: Int, header name: Span<UInt8>, value: Span<UInt8>) {
        // Names are told apart by length, because this runs for every header of every answer.
        switch name.count {
        case 7 where name[0] == UInt8(ascii: ":"):
            guard value.count == 3, let status = DecimalText.number(value) else { return }
            streams[slot].status = Int32(status)
        case 4 where name.isEqual(to: "date"):
            readDate(value)
        case 7 where name.isEqual(to: HeaderName.apnsID):
            // Apple's samples of broadcasts show either identifier.
            if !value.isEmpty, !streams[slot].operation.isManagement { streams[slot].isSigned = true }
        case 11 where name.isEqual(to: "retry-after"):
            streams[slot].retryAfter = retryAfter(value)
        case 14 where name.isEqual(to: HeaderName.uniqueID):
            guard value.count <= Self.uniqueIDLimit else { return }
            streams[slot].hasUniqueID = true
            uniqueIDs[slot] = value.withUnsafeBufferPointer { [UInt8]($0) }
        case 15 where streams[slot].operation != .push && name.isEqual(to: HeaderName.channelID):
            guard value.count <= BroadcastChannelAnswer.maximumIDLength else { return }
            channelIDs[slot] = value.withUnsafeBufferPointer { [UInt8]($0) }
        case 15 where streams[slot].operation != .push && name.isEqual(to: HeaderName.requestID):
            if !value.isEmpty { streams[slot].isSigned = true }
        default: break
        }
    }

    func response(tag slot: Int, data: Span<UInt8>) {
        // An empty DATA frame only ends the stream.
        guard !data.isEmpty else { return }
        streams[slot].hasBody = true
        let room = max(0, streams[slot].operation.answerLimit - bodies[slot].count)
        data.extracting(0..<min(room, data.count)).withUnsafeBufferPointer { bodies[slot].append(contentsOf: $0) }
    }

    func streamClosed(tag slot: Int, streamID: Int32, _ closure: StreamClosure) {
        let stream = streams[slot]
        if !stream.isTimedOut { deadlines.remove(slot) }
        let (answer, end) = conclude(slot, stream, closure)
        if stream.hasBody { bodies[slot].removeAll(keepingCapacity: bodies[slot].capacity <= 512) }
        if stream.hasUniqueID { uniqueIDs[slot] = [] }
        if stream.operation != .push { channelIDs[slot] = nil }
        free.append(slot)
        owner?.streamEnded(tag: stream.tag, answer, end)
    }

    func received(settings: HTTP2Settings) { owner?.settingsReceived() }

    func received(goAway: HTTP2GoAway) { owner?.goAwayReceived(goAway) }

    func pingAcknowledged(_ opaque: UInt64) { owner?.pingAcknowledged() }

    // MARK: Answers

    /// What the end of a stream means. If a status arrived, it decides, even if the stream broke off after it. The
    /// needed parts of the body of an answer of APNs must have arrived as well.
    private func conclude(
        _ slot: Int, _ stream: Stream, _ closure: StreamClosure
    ) -> (PushAnswer, APNSConnectionStateMachine.StreamEnd) {
        // A status below 200 is not an answer yet (RFC 9110, section 15.2).
        guard stream.status >= 200 else { return withoutAnswer(stream, closure) }
        let body = AnswerBody(status: Int(stream.status), of: stream.operation)
        let response = response(slot, stream, body)
        if closure != .complete, stream.isSigned {
            if body == .broadcastChannel(isNeeded: true) { return withoutAnswer(stream, closure) }
            // The status proves that the request was not carried out, but the reason is missing.
            if body == .reason(isNeeded: true), response.reason == nil { return (.unprocessed, .unanswered) }
        }
        return (.response(response), .answered(response.answer.meaning))
    }

    private func withoutAnswer(
        _ stream: Stream, _ closure: StreamClosure
    ) -> (PushAnswer, APNSConnectionStateMachine.StreamEnd) {
        let cause: UnansweredCause
        switch closure {
        case .unprocessed: return (.unprocessed, .unprocessed)
        case .reset(let code): cause = .reset(code: code.rawValue)
        case .cancelled: cause = .deadline
        case .lost: cause = .connectionLost
        case .complete: cause = .reset(code: HTTP2ErrorCode.protocolError.rawValue)
        }
        return (.unanswered(cause, microseconds: microseconds(of: stream)), .unanswered)
    }

    /// The time since the request was submitted.
    private func microseconds(of stream: Stream) -> Int64 {
        Int64(clamping: now.nanoseconds(since: stream.submittedAt) / 1_000)
    }

    private func response(_ slot: Int, _ stream: Stream, _ body: AnswerBody) -> APNSResponse {
        var response = APNSResponse(status: Int(stream.status), microseconds: microseconds(of: stream))
        if stream.hasUniqueID { response.apnsUniqueID = uniqueIDs[slot] }
        switch body {
        case .nothing: break
        case .broadcastChannel:
            guard stream.isSigned else { break }
            response.broadcastChannel = BroadcastChannelAnswer(channelID: channelIDs[slot], reading: bodies[slot])
        case .reason:
            if stream.hasBody {
                let refusal = ErrorBody(reading: &bodies[slot])
                response.reason = refusal.reason
                response.timestamp = refusal.timestamp
            }
            // A gateway's wish would end notifications in APNs' name.
            let isSurelyAPNs = stream.isSigned || response.reason != nil
            if stream.retryAfter >= 0, isSurelyAPNs { response.retryAfter = Int(stream.retryAfter) }
        }
        response.speaker = Speaker(
            status: response.status, of: stream.operation, isSigned: stream.isSigned,
            hasReason: response.reason != nil, hasBody: stream.hasBody)
        return response
    }

    /// The seconds of a `Retry-After` header, which is a number or a date (RFC 9110, section 10.2.3); -1 for anything
    /// else.
    private func retryAfter(_ value: Span<UInt8>) -> Int32 {
        if let seconds = DecimalText.number(value) { return Int32(clamping: seconds) }
        guard let date = HTTPDate.seconds(value) else { return -1 }
        return Int32(clamping: max(0, date - time.wall / 1_000))
    }

    private func readDate(_ value: Span<UInt8>) {
        guard now >= nextDate, let date = HTTPDate.seconds(value) else { return }
        nextDate = now + Self.dateInterval
        clockSkew = time.wall / 1_000 - date
    }
}

extension Span where Element == UInt8 {
    /// Whether these bytes are exactly the given text.
    func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index] != text.utf8Start[index] { return false }
        return true
    }
}
