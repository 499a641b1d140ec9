/// What the simulator does with a valid push.
package struct Verdict: Hashable, Sendable {
    /// The ways to answer a push, or to leave it without an answer.
    package enum Action: Hashable, Sendable {
        /// 200.
        case accept
        /// Any other answer.
        case refuse(Refusal)
        /// No answer; the stream stays open.
        case silent
        /// RST_STREAM with a code.
        case reset(UInt32)
        /// GOAWAY.
        case goAway(GoAway)
        /// The connection is closed without a word.
        case close
        /// A gateway on the way answers in APNs' place, and APNs never hears of the push.
        case gateway(Stranger)
        /// The push is accepted, and its answer is lost.
        case lose(Loss)
        /// The push is accepted, but for so many milliseconds the gateway reads nothing from the open socket and writes
        /// nothing to it. The answer follows then. Nil: the push is not taken and gets no answer, and the connection is
        /// closed after ``GatewayConnection/frozenLimit``.
        case freeze(milliseconds: Int?)
    }

    /// What becomes of the stream of a lost answer.
    package enum Loss: String, Hashable, Sendable, CaseIterable {
        /// It stays open.
        case silent
        /// It is reset.
        case reset
        /// The whole connection is closed.
        case close
    }

    /// The answer of a gateway or proxy. It has no `apns-id`.
    package struct Stranger: Hashable, Sendable {
        /// The HTTP status.
        package var status: Int
        /// The body; empty for none.
        package var body: String

        /// Describes an answer.
        package init(status: Int, body: String = "") {
            self.status = status
            self.body = body
        }
    }

    /// A GOAWAY frame.
    package struct GoAway: Hashable, Sendable {
        /// The HTTP/2 error code; 0 for an orderly end.
        package var code: UInt32
        /// The reason in the frame's JSON debug data; nil for none.
        package var reason: String?
        /// Plain text in the debug data, instead of a reason.
        package var text: String?
        /// Where the last-stream-id stands and what becomes of this push.
        package var reach: Reach
        /// Whether the frame is sent twice in a row.
        package var isRepeated = false
        /// Whether the socket stays open when all streams are over, and new ones are ignored.
        package var staysOpen = false

        /// The debug data of the frame: the text, or JSON with the reason.
        var debugData: [UInt8] { text.map { Array($0.utf8) } ?? reason.map { Refusal(0, $0).body } ?? [] }

        /// Describes a GOAWAY frame.
        ///
        /// - Parameters:
        ///   - code: The HTTP/2 error code.
        ///   - reason: The reason in the debug data.
        ///   - reach: Where the last-stream-id stands.
        package init(code: UInt32 = 0, reason: String? = Refusal.shutdown.reason, reach: Reach) {
            self.code = code
            self.reason = reason
            self.reach = reach
        }
    }

    /// Where the last-stream-id of a GOAWAY stands.
    package enum Reach: String, Hashable, Sendable, CaseIterable {
        /// This push is answered with 200, then the connection drains.
        case accepted
        /// Just before this push: provably not processed.
        case before
        /// At this push, which gets no answer before the connection closes.
        case unanswered
    }

    /// What to do.
    package var action: Action

    /// Milliseconds to wait before the action.
    package var delay: Int

    /// Draws ``delay`` anew for each push; nil for a fixed one.
    package var latency: Latency?

    /// How many concurrent streams are announced before the action; nil for no change.
    package var streams: UInt32?

    /// Makes a verdict.
    ///
    /// - Parameters:
    ///   - action: What to do.
    ///   - delay: Milliseconds to wait before the action.
    package init(_ action: Action, delay: Int = 0) {
        self.action = action
        self.delay = delay
    }

    /// 200 at once.
    package static let accept = Verdict(.accept)

    /// The status that a ledger shows: 0 where the push gets no answer. An answer that is lost counts as 200, because
    /// the push was accepted.
    var status: Int {
        switch action {
        case .accept, .lose, .freeze(.some): 200
        case .goAway(let frame) where frame.reach == .accepted: 200
        case .refuse(let refusal): refusal.status
        case .silent, .reset, .goAway, .close, .freeze, .gateway: 0
        }
    }

    /// The word that a ledger shows: the reason, or what happened instead of or beside an answer; empty for a plain
    /// 200.
    var label: String {
        switch action {
        case .accept: ""
        case .refuse(let refusal): refusal.reason
        case .silent: "silent"
        case .reset(let code): "reset:\(HTTP2CodeName.name(of: code))"
        case .goAway(let frame): frame.reach == .accepted ? "" : "goaway:\(frame.reach.rawValue)"
        case .close: "close"
        case .gateway(let answer): "gateway:\(answer.status)"
        case .lose(let loss): "answer lost: \(loss.rawValue)"
        case .freeze: "freeze"
        }
    }
}
