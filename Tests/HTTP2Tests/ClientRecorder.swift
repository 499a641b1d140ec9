@testable import HTTP2

/// Writes down everything a client session says.
final class ClientRecorder: HTTP2ClientDelegate {
    var responses: [Int: SeenResponse] = [:]
    var closures: [SeenClosure] = []
    var settings: [HTTP2Settings] = []
    var goAways: [HTTP2GoAway] = []
    var pings: [UInt64] = []
    /// Called after a closure was written down.
    var onClosure: ((SeenClosure) -> Void)?
    /// Called after a GOAWAY was written down.
    var onGoAway: (() -> Void)?

    func response(tag: Int, header name: Span<UInt8>, value: Span<UInt8>) {
        responses[tag, default: SeenResponse()].headers.append("\(Self.text(name)): \(Self.text(value))")
    }

    func response(tag: Int, data: Span<UInt8>) {
        data.withUnsafeBufferPointer { responses[tag, default: SeenResponse()].body.append(contentsOf: $0) }
    }

    func streamClosed(tag: Int, streamID: Int32, _ closure: StreamClosure) {
        let seen = SeenClosure(tag: tag, streamID: streamID, closure: closure)
        closures.append(seen)
        onClosure?(seen)
    }

    func received(settings: HTTP2Settings) {
        self.settings.append(settings)
    }

    func received(goAway: HTTP2GoAway) {
        goAways.append(goAway)
        onGoAway?()
    }

    func pingAcknowledged(_ opaque: UInt64) {
        pings.append(opaque)
    }

    /// The closures by tag, when each tag was used once.
    var closureByTag: [Int: StreamClosure] {
        Dictionary(closures.map { ($0.tag, $0.closure) }) { first, _ in first }
    }

    /// The bytes of a span as text.
    private static func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
