import EventLoop
import HTTP2

/// One client's HTTP/2 conversation with broadcast channel management, or with a port for publishing alone.
///
/// See Apple, "Sending channel management requests to APNs": `api-manage-broadcast.sandbox.push.apple.com:2195` and
/// `api-manage-broadcast.push.apple.com:2196`.
final class BroadcastChannelSession: HTTP2GatewayProtocol, HTTP2ServerDelegate {
    /// The concurrent streams announced; Apple names no number.
    static let streams: UInt32 = 100

    /// HTTP/2; nil only until it is set up.
    private(set) var session: HTTP2ServerSession?
    private var endpoint: BroadcastEndpoint
    private let service: PushService
    private var isLeaving = false
    private let record: ConnectionRecord

    /// Starts a conversation; the server's SETTINGS are ready to be sent.
    ///
    /// - Parameters:
    ///   - facts: What is known of the connection.
    ///   - service: What all connections share.
    ///   - role: Whether broadcast channels are managed or published to.
    /// - Throws: ``SimulatorError`` where HTTP/2 cannot be set up.
    init(_ facts: ConnectionFacts, service: PushService, role: Gateway.Role) throws(SimulatorError) {
        facts.record.allows(Self.streams)
        record = facts.record
        endpoint = BroadcastEndpoint(facts, service: service, servesPublishing: role == .broadcasts)
        self.service = service
        do {
            session = try HTTP2ServerSession(
                settings: HTTP2Settings(
                    headerTableSize: 4096, maxConcurrentStreams: Self.streams, initialWindowSize: 65_535,
                    maxFrameSize: 16_384, maxHeaderListSize: UInt32(clamping: facts.limits.headerList)),
                bodyLimit: PushSession.bodyLimit, headerListLimit: facts.limits.headerList, delegate: self)
        } catch {
            throw SimulatorError(.protocol, "cannot start HTTP/2: \(error)")
        }
        session?.windowStep = PushSession.windowStep
    }

    /// Sends GOAWAY if the service goes down. Requests on open streams are still answered.
    func attend() {
        guard service.isDraining, !isLeaving else { return }
        isLeaving = true
        session?.goAway(.noError, debugData: Refusal.shutdown.body)
    }

    /// Handles a complete request.
    ///
    /// - Parameter request: Headers and body.
    func received(request: HTTP2Request) {
        guard let session else { return }
        record.hasOpen(session.openStreams)
        endpoint.answer(request, on: session, now: service.clock.now)
    }

    /// Notes in the connection's record how many streams are open.
    ///
    /// - Parameters:
    ///   - streamID: The stream.
    ///   - code: Why it ended.
    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) { record.hasOpen(session?.openStreams ?? 0) }

    /// The client's GOAWAY needs no action: open streams are still answered.
    ///
    /// - Parameter goAway: The frame.
    func received(goAway: HTTP2GoAway) {}
}
