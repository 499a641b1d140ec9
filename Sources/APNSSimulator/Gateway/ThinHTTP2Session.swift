/// The smallest HTTP/2 server that a benchmark client can talk to: every finished request is answered 200.
///
/// It decodes no header, allocates nothing per request and keeps no stream; it only counts the windows of unfinished
/// bodies. That is enough because its answers use only HPACK's static table, carry no body, and have all the same
/// `apns-id`. So neither compression state nor the peer's windows matter. It leaves out the rest of
/// [RFC 9113](https://www.rfc-editor.org/rfc/rfc9113), so that a benchmark measures the client and not this server.
final class ThinHTTP2Session: GatewayProtocol {
    /// The concurrent streams announced.
    static let streamLimit: UInt32 = 1000

    /// The connection window opened at the start, in bytes, so that a thousand large payloads do not wait for it.
    static let connectionWindow = 16 << 20

    /// How much is received before the window is opened again, in bytes.
    static let windowStep = 4 << 20

    /// The window of a stream, the protocol's default, in bytes.
    static let streamWindow = 65_535

    /// How many reset streams may be unfinished before the connection is ended with GOAWAY.
    static let refusedLimit = 1000

    /// The largest frame accepted, the protocol's default, in bytes.
    static let frameLimit = 16_384

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private enum FrameType {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let resetStream: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    private enum Flag {
        static let endStream: UInt8 = 1
        static let acknowledge: UInt8 = 1
        static let endHeaders: UInt8 = 4
    }

    private let counters: GatewayCounters
    private let record: ConnectionRecord
    private var prefaceSeen = 0
    private var header = [UInt8](repeating: 0, count: 9)
    private var headerSeen = 0
    private var remaining = 0
    private var pingPayload: [UInt8] = []
    private var endsWithHeaders = false
    private var takenFromWindow = 0
    /// How many bytes the client may still send on the connection, by the window updates that were sent to it.
    private var credit = 65_535
    /// The bytes of the connection's window updates that wait to be sent.
    private var granting = 0
    /// How many bytes of its window each stream with an unfinished body has used since the last
    /// ``send(into:upTo:)``.
    private var taken: [UInt32: Int] = [:]
    /// Streams that were reset and whose bodies are not finished.
    private var refused: Set<UInt32> = []
    private var pending: [UInt8] = []
    private var pushes = 0
    private var pushBytes = 0

    /// Whether the peer sent GOAWAY, or this side did after a breach of flow control.
    private(set) var isFinished = false

    /// Whether there are bytes to send.
    var wantsToSend: Bool { !pending.isEmpty }

    /// Starts with the server's SETTINGS ready to be sent.
    ///
    /// - Parameters:
    ///   - counters: Receives the number of requests.
    ///   - record: What the admin API shows of the connection.
    init(counters: GatewayCounters, record: ConnectionRecord = ConnectionRecord()) {
        self.counters = counters
        self.record = record
        record.allows(Self.streamLimit)
        pending.reserveCapacity(64 << 10)
        appendFrameHeader(length: 6, type: FrameType.settings, flags: 0, stream: 0)
        pending.append(contentsOf: [0, 3])
        append(Self.streamLimit)
        appendWindowUpdate(stream: 0, by: Self.connectionWindow - 65_535)
    }

    /// Takes bytes from the client.
    ///
    /// - Parameter bytes: What came out of TLS.
    /// - Throws: ``SimulatorError`` where the client does not speak HTTP/2 or sends a frame that is too large. The
    ///   connection is dead then.
    func receive(_ bytes: Span<UInt8>) throws(SimulatorError) {
        var index = 0
        while prefaceSeen < Self.preface.count, index < bytes.count {
            guard bytes[index] == Self.preface[prefaceSeen] else {
                throw SimulatorError(.protocol, "the client does not speak HTTP/2")
            }
            prefaceSeen += 1
            index += 1
        }
        while index < bytes.count, !isFinished {
            if headerSeen < 9 {
                header[headerSeen] = bytes[index]
                headerSeen += 1
                index += 1
                if headerSeen == 9 { try beginFrame() }
            } else {
                let count = min(remaining, bytes.count - index)
                if header[3] == FrameType.ping {
                    for offset in index..<(index + count) { pingPayload.append(bytes[offset]) }
                }
                remaining -= count
                index += count
                if remaining == 0 { endFrame() }
            }
        }
        counters.accepted(pushes: pushes, bytes: pushBytes)
        record.answered(200, count: pushes)
        pushes = 0
        pushBytes = 0
    }

    /// Hands over what is to be sent.
    ///
    /// - Parameters:
    ///   - output: Receives the bytes.
    ///   - limit: Ignored: the answers of one read are small.
    func send(into output: inout [UInt8], upTo limit: Int) {
        output.append(contentsOf: pending)
        pending.removeAll(keepingCapacity: true)
        credit += granting
        granting = 0
        if !taken.isEmpty { taken.removeAll(keepingCapacity: true) }
    }

    private func beginFrame() throws(SimulatorError) {
        remaining = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        guard remaining <= Self.frameLimit else {
            throw SimulatorError(.protocol, "a frame of \(remaining) bytes is larger than announced")
        }
        if header[3] == FrameType.data { useWindow() }
        if remaining == 0 { endFrame() }
    }

    /// Counts a DATA frame (RFC 9113, 5.2 and 6.9.1). A frame that is too large for its stream's window ends the
    /// stream. One that is too large for the connection's window ends the connection, and so do too many reset streams.
    private func useWindow() {
        credit -= remaining
        let stream = stream
        if credit < 0 || refused.count >= Self.refusedLimit { return fail() }
        guard let used = taken[stream], used + remaining > Self.streamWindow, !refused.contains(stream) else { return }
        refused.insert(stream)
        appendFrameHeader(length: 4, type: FrameType.resetStream, flags: 0, stream: stream)
        append(Self.flowControlError)
    }

    private func fail() {
        appendFrameHeader(length: 8, type: FrameType.goAway, flags: 0, stream: 0)
        append(stream)
        append(Self.flowControlError)
        isFinished = true
    }

    private static let flowControlError: UInt32 = 3

    private func endFrame() {
        headerSeen = 0
        let flags = header[4]
        switch header[3] {
        case FrameType.data: endData(flags: flags)
        case FrameType.headers:
            endsWithHeaders = flags & Flag.endStream != 0
            if flags & Flag.endHeaders != 0 { endHeaders() }
        case FrameType.continuation:
            if flags & Flag.endHeaders != 0 { endHeaders() }
        case FrameType.settings:
            if flags & Flag.acknowledge == 0 {
                appendFrameHeader(length: 0, type: FrameType.settings, flags: Flag.acknowledge, stream: 0)
            }
        case FrameType.ping:
            if flags & Flag.acknowledge == 0 {
                appendFrameHeader(
                    length: pingPayload.count, type: FrameType.ping, flags: Flag.acknowledge, stream: 0)
                pending.append(contentsOf: pingPayload)
            }
            pingPayload.removeAll(keepingCapacity: true)
        case FrameType.resetStream: refused.remove(stream)
        case FrameType.goAway: isFinished = true
        default: break
        }
    }

    private var stream: UInt32 {
        UInt32(header[5] & 0x7F) << 24 | UInt32(header[6]) << 16 | UInt32(header[7]) << 8 | UInt32(header[8])
    }

    private func endHeaders() {
        if endsWithHeaders { answer() }
    }

    private func endData(flags: UInt8) {
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        pushBytes += length
        takenFromWindow += length
        if takenFromWindow >= Self.windowStep {
            appendWindowUpdate(stream: 0, by: takenFromWindow)
            takenFromWindow = 0
        }
        if !refused.isEmpty, refused.contains(stream) {
            if flags & Flag.endStream != 0 { refused.remove(stream) }
        } else if flags & Flag.endStream != 0 {
            answer()
        } else if length > 0 {
            appendWindowUpdate(stream: stream, by: length)
            taken[stream, default: 0] += length
        }
    }

    private func answer() {
        pushes += 1
        appendFrameHeader(
            length: Self.accepted.count, type: FrameType.headers, flags: Flag.endStream | Flag.endHeaders,
            stream: stream)
        pending.append(contentsOf: Self.accepted)
    }

    /// `:status: 200` of HPACK's static table (RFC 7541, appendix A), and an `apns-id` that is not indexed (section
    /// 6.2.2).
    static let accepted: [UInt8] =
        [0x88, 0, 7] + Array("\(APNSHeader.id)".utf8) + [36] + Array("6d617274-6c65-4000-8000-000000000200".utf8)

    private func appendWindowUpdate(stream: UInt32, by count: Int) {
        if stream == 0 { granting += count }
        appendFrameHeader(length: 4, type: FrameType.windowUpdate, flags: 0, stream: stream)
        append(UInt32(count))
    }

    private func append(_ number: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { pending.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private func appendFrameHeader(length: Int, type: UInt8, flags: UInt8, stream: UInt32) {
        pending.append(UInt8(truncatingIfNeeded: length >> 16))
        pending.append(UInt8(truncatingIfNeeded: length >> 8))
        pending.append(UInt8(truncatingIfNeeded: length))
        pending.append(type)
        pending.append(flags)
        pending.append(UInt8(truncatingIfNeeded: stream >> 24))
        pending.append(UInt8(truncatingIfNeeded: stream >> 16))
        pending.append(UInt8(truncatingIfNeeded: stream >> 8))
        pending.append(UInt8(truncatingIfNeeded: stream))
    }
}
