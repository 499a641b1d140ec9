import EventLoop
import HTTP2
import PushModel
import Text

@testable import APNSClient

/// What APNs can send to a worker.
enum ClientFuzzing {
    private static let requests = 3

    /// Remembers how each request ended: each exactly once, whatever the server does.
    private final class Owner: StreamTableOwner {
        var ends = [Int](repeating: 0, count: requests)

        func streamEnded(tag: Int, _ answer: consuming PushAnswer, _ end: APNSConnectionStateMachine.StreamEnd) {
            ends[tag] += 1
        }

        func settingsReceived() {}
        func goAwayReceived(_ goAway: HTTP2GoAway) { _ = GoAwayText.describe(goAway) }
        func pingAcknowledged() {}
    }

    static func connection(_ bytes: [UInt8]) {
        let owner = Owner()
        let table = StreamTable(MachineTime())
        table.owner = owner
        guard let session = try? HTTP2ClientSession(settings: HTTP2Settings(enablePush: 0), delegate: table) else {
            preconditionFailure("a session can always be made")
        }
        var head = HeaderBlock()
        head.append(":method", "POST")
        head.append(":scheme", "https")
        head.append(":path", "/3/device/00")
        head.append(":authority", "localhost")
        var submitted = 0
        for tag in 0..<requests {
            // One of them asks about broadcast channels, whose answers have more to them.
            let slot = table.take(
                tag: tag, operation: tag == 2 ? .createChannel : .push, due: MonotonicTime(nanoseconds: 1))
            guard let id = try? session.submit(head, body: [123, 125], range: 0..<2, tag: slot) else {
                table.cancel(slot)
                continue
            }
            table.opened(slot, streamID: id)
            submitted += 1
        }
        var output: [UInt8] = []
        // In two pieces, because frames do not end where reads do.
        let middle = bytes.count / 2
        for piece in [0..<middle, middle..<bytes.count] {
            do {
                try session.send(into: &output, upTo: 1 << 16)
                try session.receive(bytes.span.extracting(piece))
            } catch {
                break
            }
        }
        session.connectionLost()
        precondition(owner.ends.reduce(0, +) == submitted && owner.ends.allSatisfy { $0 <= 1 })
    }

    static func proxy(_ bytes: [UInt8]) {
        var machine = ProxyTunnelStateMachine()
        let middle = bytes.count / 2
        guard machine.receive(bytes.span.extracting(0..<middle)) == .needsMore else { return }
        _ = machine.receive(bytes.span.extracting(middle..<bytes.count))
    }

    static func answer(_ bytes: [UInt8]) {
        var body = bytes
        let answer = ErrorBody(reading: &body)
        precondition(answer.reason?.rawValue.isEmpty != true)
        _ = GoAwayText.describe(HTTP2GoAway(lastStreamID: 1, code: .noError, debugData: bytes))
        _ = HTTPDate.seconds(bytes.span)
        let broadcastChannel = BroadcastChannelAnswer(channelID: bytes, reading: bytes)
        for text in [broadcastChannel.channelID, broadcastChannel.identifiers] {
            precondition(text.map { String(validating: $0, as: UTF8.self) != nil } ?? true, "results are always text")
        }
    }
}
