@testable import HTTP2

/// A response as a client test saw it.
struct SeenResponse: Equatable {
    var headers: [String] = []
    var body: [UInt8] = []
}

/// One closed request.
struct SeenClosure: Hashable {
    var tag: Int
    var streamID: Int32
    var closure: StreamClosure
}

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
        responses[tag, default: SeenResponse()].headers.append("\(text(name)): \(text(value))")
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
}

/// Writes down everything a server session says, and lets a test decide what to do with a request.
final class ServerRecorder: HTTP2ServerDelegate {
    var requests: [HTTP2Request] = []
    var closed: [Int32: HTTP2ErrorCode] = [:]
    var goAways: [HTTP2GoAway] = []
    var settings: [HTTP2Settings] = []
    var acknowledgements = 0
    var pings: [UInt64] = []
    /// Called after a request was written down.
    var onRequest: ((HTTP2Request) -> Void)?

    func received(request: HTTP2Request) {
        requests.append(request)
        onRequest?(request)
    }

    func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {
        closed[streamID] = code
    }

    func received(goAway: HTTP2GoAway) {
        goAways.append(goAway)
    }

    func received(settings: HTTP2Settings) {
        self.settings.append(settings)
    }

    func settingsAcknowledged() {
        acknowledgements += 1
    }

    func pingReceived(_ opaque: UInt64) {
        pings.append(opaque)
    }
}

/// The bytes of a span as text.
func text(_ span: Span<UInt8>) -> String {
    span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
}

/// The fields of a request as lines.
func lines(_ request: HTTP2Request) -> [String] {
    request.headers.map { String(decoding: $0.name, as: UTF8.self) + ": " + String(decoding: $0.value, as: UTF8.self) }
}

/// The head of a usual request.
func pushHead(path: String = "/3/device/00", extra: [(String, String)] = []) -> HeaderBlock {
    var block = HeaderBlock()
    block.append(":method", "POST")
    block.append(":scheme", "https")
    block.append(":path", Array(path.utf8).span)
    block.append(":authority", "localhost")
    for (name, value) in extra { block.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
    return block
}
