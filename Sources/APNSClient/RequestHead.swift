import HTTP2
import PushModel
import Text

/// Builds the header blocks of pushes (`/3/device/…`) and of requests about broadcast channels. Each connection has one
/// `RequestHead` and reuses it for each request. A connection carries either pushes to devices or requests about
/// broadcast channels, never both.
///
/// Apple's advice decides which headers enter the peer's HPACK table: every name once, and values that stay the same,
/// but never the path
/// (<https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>).
struct RequestHead {
    /// The block as built last.
    private(set) var block = HeaderBlock()

    private let prefix: HeaderBlock.Mark
    /// The topic that requests leave out, because it is the only topic of the certificate; nil for none.
    private let omittedTopic: [UInt8]?
    private let authority: [UInt8]
    private var scratch: [UInt8] = []
    /// Whether `apns-id` or `apns-request-id`, whose value always changes, was indexed. The first one is indexed, so
    /// that the table holds its name. The next two flags do the same for their headers.
    private var hasIndexedID = false
    private var hasIndexedExpiration = false
    private var hasIndexedCollapseID = false

    /// A head for requests to one server.
    ///
    /// - Parameters:
    ///   - authority: The value of `:authority`.
    ///   - omittedTopic: The topic for which there is no `apns-topic` header; nil for none.
    init(authority: String, omittedTopic: [UInt8]? = nil) {
        self.omittedTopic = omittedTopic
        block.append(":method", "POST")
        block.append(":scheme", "https")
        let text = Array(authority.utf8)
        block.append(":authority", text.span)
        self.authority = text
        prefix = block.mark
        scratch.reserveCapacity(64)
    }

    /// Builds the head of one notification.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - index: The position of the notification in the job.
    ///   - authorization: The provider token; nil if a certificate identifies us.
    mutating func build(_ job: borrowing Job, index: Int, authorization: ProviderToken?) {
        guard job.operation == .push else { return buildBroadcastChannelRequest(job, authorization: authorization) }
        let bytes = job.bytes.span
        block.truncate(to: prefix)
        block.beginValue(":path", .notIndexed)
        block.appendPiece("/3/device/")
        block.appendPiece(bytes.extracting(job.deviceToken(index)))
        block.endValue()
        if let authorization { block.append("authorization", authorization.header.span) }
        if !isOmitted(bytes.extracting(job.topic)) { block.append(HeaderName.topic, bytes.extracting(job.topic)) }
        if case .other(let range) = job.pushType {
            block.append(HeaderName.pushType, bytes.extracting(range))
        } else {
            block.append(HeaderName.pushType, job.pushType.text)
        }
        switch job.priority {
        case 10: block.append(HeaderName.priority, "10")
        case 5: block.append(HeaderName.priority, "5")
        default: appendNumber(HeaderName.priority, Int64(job.priority), .indexed)
        }
        if let expiration = job.expiration {
            // Nearly every job with an expiration has zero.
            let isIndexed = expiration == 0 || !hasIndexedExpiration
            hasIndexedExpiration = true
            appendNumber(HeaderName.expiration, expiration, isIndexed ? .indexed : .notIndexed)
        }
        if let collapseID = job.collapseID {
            let indexing: HeaderBlock.Indexing = hasIndexedCollapseID ? .notIndexed : .indexed
            block.append(HeaderName.collapseID, bytes.extracting(collapseID), indexing)
            hasIndexedCollapseID = true
        }
        let isFirstID = !hasIndexedID
        hasIndexedID = true
        let apnsID = job.apnsID(index)
        withScratch { text, block in
            apnsID.append(to: &text)
            block.append(HeaderName.apnsID, text.span, isFirstID ? .indexed : .notIndexed)
        }
    }

    private func isOmitted(_ topic: Span<UInt8>) -> Bool {
        guard let omittedTopic, omittedTopic.count == topic.count else { return false }
        for index in omittedTopic.indices where omittedTopic[index] != topic[index] { return false }
        return true
    }

    /// Builds the head of a request about broadcast channels, or of a message to a broadcast channel's listeners.
    ///
    /// Names and paths are those of Apple's pages "Sending channel management requests to APNs"
    /// (<https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns>) and
    /// "Sending broadcast push notification requests to APNs". APNs asks for an expiration with every broadcast. If the
    /// job has none, the expiration is 0, the only value that a broadcast channel without storage accepts.
    private mutating func buildBroadcastChannelRequest(_ job: borrowing Job, authorization: ProviderToken?) {
        let bytes = job.bytes.span
        block.removeAll()
        block.append(":method", job.operation.method)
        block.append(":scheme", "https")
        let authority = authority
        block.append(":authority", authority.span)
        block.beginValue(":path", .notIndexed)
        block.appendPiece(job.operation == .broadcast ? "/4/broadcasts/apps/" : "/1/apps/")
        block.appendPiece(bytes.extracting(job.bundleID))
        switch job.operation {
        case .push, .broadcast: break
        case .createChannel, .readChannel, .deleteChannel: block.appendPiece("/channels")
        case .listChannels: block.appendPiece("/all-channels")
        }
        block.endValue()
        if let authorization { block.append("authorization", authorization.header.span) }
        if let channelID = job.channelID { block.append(HeaderName.channelID, bytes.extracting(channelID)) }
        if job.operation == .broadcast {
            block.append(HeaderName.pushType, PushType.liveActivity.text)
            block.append(HeaderName.priority, job.priority == 5 ? "5" : "10")
            let expiration = job.expiration ?? 0
            appendNumber(HeaderName.expiration, expiration, expiration == 0 ? .indexed : .notIndexed)
        }
        let isFirstID = !hasIndexedID
        hasIndexedID = true
        let requestID = job.apnsID(0)
        withScratch { text, block in
            requestID.append(to: &text)
            block.append(HeaderName.requestID, text.span, isFirstID ? .indexed : .notIndexed)
        }
    }

    private mutating func appendNumber(_ name: StaticString, _ value: Int64, _ indexing: HeaderBlock.Indexing) {
        withScratch { text, block in
            var rest = value.magnitude
            repeat {
                text.append(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            } while rest > 0
            if value < 0 { text.append(UInt8(ascii: "-")) }
            text.reverse()
            block.append(name, text.span, indexing)
        }
    }

    /// Lends the block and an empty buffer whose memory is kept.
    private mutating func withScratch(_ body: (inout [UInt8], inout HeaderBlock) -> Void) {
        var text: [UInt8] = []
        swap(&text, &scratch)
        text.removeAll(keepingCapacity: true)
        body(&text, &block)
        swap(&text, &scratch)
    }
}
