@testable import HTTP2

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
