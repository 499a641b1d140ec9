import HTTP2
import TestSupport
import Testing

/// What a server does to the first connection, once its first request is there.
struct ServerAttack: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// What it sends, given the stream of the request.
    var bytes: @Sendable (UInt32) -> [UInt8]
    /// What it announces at first.
    var settings = HTTP2Settings(maxConcurrentStreams: 1_000)
    /// Whether it breaks HTTP/2 as a whole, so that the connection must be dropped.
    var isFatal = false

    init(
        _ name: String, isFatal: Bool = false, settings: HTTP2Settings = HTTP2Settings(maxConcurrentStreams: 1_000),
        _ bytes: @escaping @Sendable (UInt32) -> [UInt8]
    ) {
        testDescription = name
        self.isFatal = isFatal
        self.settings = settings
        self.bytes = bytes
    }

    static let frames: [ServerAttack] = [
        ServerAttack("DATA over the largest size", isFatal: true) {
            Frame.make(0, stream: $0, [UInt8](repeating: 0, count: 16_385))
        },
        ServerAttack("HEADERS of 16 MiB", isFatal: true) {
            Frame.announced(0xff_ffff, 1, flags: 4, stream: $0) + [0x88]
        },
        ServerAttack("PUSH_PROMISE", isFatal: true) {
            Frame.make(5, flags: 4, stream: $0, Frame.number(2) + [0x82, 0x86, 0x84])
        },
        ServerAttack("HEADERS of a stream of the server's own", isFatal: true) { _ in Frame.headers(2, Frame.status200)
        },
        ServerAttack("DATA of a stream never opened", isFatal: true) { _ in Frame.make(0, stream: 9_999, [1]) },
        ServerAttack("DATA before HEADERS") { Frame.make(0, stream: $0, [1]) },
        ServerAttack("DATA after the end") {
            Frame.headers($0, Frame.status200, ends: true) + Frame.make(0, stream: $0, [1])
        },
        ServerAttack("padding longer than the frame", isFatal: true) { Frame.make(0, flags: 8, stream: $0, [200, 1]) },
        ServerAttack("HTTP/1.1", isFatal: true) { _ in Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) },
        ServerAttack("noise", isFatal: true) { _ in [UInt8](repeating: 0xff, count: 4_096) },
        ServerAttack("a body of ten megabytes") {
            Frame.headers($0, Frame.status200)
                + Frame.make(0, stream: $0, [UInt8](repeating: 1, count: 16_384)).repeated(640)
        },
    ]

    static let headers: [ServerAttack] = [
        ServerAttack("unknown table index", isFatal: true) { Frame.headers($0, [0xff, 0x7f]) },
        ServerAttack("an integer without end", isFatal: true) {
            Frame.headers($0, [UInt8](repeating: 0xff, count: 100))
        },
        ServerAttack("a table larger than agreed", isFatal: true) {
            Frame.headers($0, [0x3f, 0xe1, 0xff, 0x7f] + Frame.status200)
        },
        ServerAttack("bad Huffman code", isFatal: true) {
            Frame.headers($0, [0x00, 0x81, 0xff, 0x84, 0xff, 0xff, 0xff, 0xff])
        },
        ServerAttack("a block that is a bomb") { Frame.headers($0, Frame.bomb) },
        ServerAttack("no status") { Frame.headers($0, [0x00, 1, 0x78, 1, 0x79], ends: true) },
        ServerAttack("a status that is not a number") { Frame.headers($0, [0x08, 3, 0x61, 0x62, 0x63], ends: true) },
        ServerAttack("two statuses") { Frame.headers($0, Frame.status200 + Frame.status200, ends: true) },
        ServerAttack("interim responses without end") { Frame.headers($0, Frame.status103).repeated(20_000) },
        ServerAttack("headers again and again") { Frame.headers($0, Frame.status200).repeated(5_000) },
        ServerAttack("CONTINUATION without end", isFatal: true) {
            Frame.make(1, stream: $0, Frame.status200)
                + Frame.make(9, stream: $0, [0x00, 1, 0x78, 1, 0x79]).repeated(20_000)
        },
        ServerAttack("empty CONTINUATION without end", isFatal: true) {
            Frame.make(1, stream: $0, []) + Frame.make(9, stream: $0).repeated(50_000)
        },
    ]

    static let floods: [ServerAttack] = [
        ServerAttack("SETTINGS without end") { _ in Frame.settings(3, 1_000).repeated(30_000) },
        ServerAttack("PING without end") { _ in Frame.make(6, [1, 2, 3, 4, 5, 6, 7, 8]).repeated(30_000) },
        ServerAttack("WINDOW_UPDATE without end") { _ in Frame.make(8, Frame.number(1)).repeated(50_000) },
        ServerAttack("PRIORITY without end") { Frame.make(2, stream: $0, [0, 0, 0, 0, 16]).repeated(50_000) },
        ServerAttack("unknown frames without end") { _ in Frame.make(0xee, [1, 2, 3]).repeated(50_000) },
        ServerAttack("empty DATA without end") {
            Frame.headers($0, Frame.status200) + Frame.make(0, stream: $0).repeated(50_000)
        },
        ServerAttack("resets of one stream without end") {
            Frame.make(3, stream: $0, Frame.number(8)).repeated(50_000)
        },
        ServerAttack("a window beyond 2^31", isFatal: true) { _ in Frame.make(8, Frame.number(0x7fff_ffff)) },
        ServerAttack("a window update by nothing", isFatal: true) { _ in Frame.make(8, Frame.number(0)) },
        ServerAttack("settings out of range", isFatal: true) { _ in Frame.settings(4, .max) + Frame.settings(5, 1) },
        ServerAttack("a window of nothing for ever", settings: HTTP2Settings(initialWindowSize: 0)) { _ in [] },
        ServerAttack("no streams any more") { _ in Frame.settings(3, 0) },
    ]

    static let goodbyes: [ServerAttack] = [
        ServerAttack("GOAWAY that promises everything") { _ in Frame.goAway(0x7fff_ffff) },
        ServerAttack("GOAWAY that promises more each time", isFatal: true) { _ in
            Frame.goAway(1) + Frame.goAway(5) + Frame.goAway(0x7fff_ffff)
        },
        ServerAttack("GOAWAY below what was answered") {
            Frame.headers($0, Frame.status200, ends: true) + Frame.goAway(0)
        },
        ServerAttack("GOAWAY of a stream of its own", isFatal: true) { _ in Frame.goAway(2) },
        ServerAttack("GOAWAY without end") { _ in Frame.goAway(1).repeated(20_000) },
        ServerAttack("GOAWAY with much to say") { _ in Frame.goAway(0, debug: [UInt8](repeating: 0x61, count: 16_000))
        },
        ServerAttack("GOAWAY of three bytes", isFatal: true) { _ in Frame.make(7, [0, 0, 0]) },
    ]

    static let all: [ServerAttack] = frames + headers + floods + goodbyes
}
