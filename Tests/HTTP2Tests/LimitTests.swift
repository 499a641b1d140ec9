import Testing

@testable import HTTP2

@Suite("Settings, windows and limits", .timeLimit(.minutes(1)))
struct LimitTests {
    @Test("4 KB payloads get through a tiny window, in any fragments", arguments: [1, 10, 1000], [7, 16384])
    func tinyWindow(window: UInt32, fragment: Int) throws {
        let pair = try Pair(server: HTTP2Settings(initialWindowSize: window), fragment: fragment)
        pair.echo()
        let body = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
        for tag in 0..<20 { try pair.submit(tag: tag, body: body) }
        try pair.settle()
        #expect(pair.clientEvents.closures.count == 20)
        #expect(pair.serverEvents.requests.allSatisfy { $0.body == body })
        #expect(pair.clientEvents.responses.values.allSatisfy { $0.body == body })
    }

    @Test("A server gives back at once what less than half a window would keep, each byte once")
    func returnedWindow() throws {
        let pair = try Pair()
        pair.echo()
        try pair.settle()
        try pair.submit(tag: 0, body: [UInt8](repeating: 1, count: 30_000))
        try pair.settle()
        #expect(pair.client.remoteWindow == 65_535 - 30_000)
        pair.server.reopenWindow(from: 0)
        pair.server.reopenWindow(from: 0)
        try pair.settle()
        #expect(pair.client.remoteWindow == 65_535)
        try pair.submit(tag: 1, body: [UInt8](repeating: 1, count: 40_000))
        try pair.settle()
        pair.server.reopenWindow(from: 0)
        try pair.settle()
        #expect(pair.client.remoteWindow == 65_535)
    }

    @Test("The connection window runs empty without a word from the server, and everything arrives once it grows")
    func exhaustedConnection() throws {
        let pair = try Pair(server: HTTP2Settings(maxConcurrentStreams: 100))
        pair.echo()
        try pair.settle()
        #expect(pair.client.remoteWindow == 65535)
        let body = Array(repeating: UInt8(1), count: 4096)
        for tag in 0..<50 { try pair.submit(tag: tag, body: body) }
        var bytes: [UInt8] = []
        try pair.client.send(into: &bytes, upTo: .max)
        #expect(pair.client.remoteWindow == 0)
        #expect(!pair.client.wantsToSend)
        #expect(bytes.count > 65535)
        try pair.server.receive(bytes.span)
        try pair.settle()
        #expect(pair.clientEvents.closures.count == 50)
        #expect(pair.serverEvents.requests.allSatisfy { $0.body == body })
    }

    @Test("A window that grows while streams run lets the rest of a body out")
    func growingWindow() throws {
        let peer = try RawServer(settings: [(4, 0)])
        try peer.submit(1, body: [1, 2, 3])
        #expect(!peer.client.wantsToSend)
        try peer.receive(Raw.settings([(4, 2)]))
        #expect(try peer.drain().suffix(2) == [1, 2])
        try peer.receive(Raw.frame(Raw.windowUpdate, stream: 1, Raw.number(1)))
        #expect(try peer.drain() == Raw.frame(Raw.data, flags: Raw.endStream, stream: 1, [3]))
    }

    @Test("Unwritten bodies claim some of the window, as long as their streams are open")
    func unclaimedWindow() throws {
        let peer = try RawServer(settings: [(3, 10), (4, 1)])
        let body = [UInt8](repeating: 1, count: 1_000)
        for tag in 0..<5 { _ = try peer.client.submit(.push(), body: body, range: 100..<1_000, tag: tag) }
        #expect(peer.client.remoteWindow == 65_535 && peer.client.unclaimedWindow == 65_535 - 5 * 900)
        try peer.drain()
        #expect(peer.client.remoteWindow == 65_535 - 5, "each stream has a window of one byte")
        #expect(peer.client.unclaimedWindow == 65_535 - 5 * 900)
        // One is answered before it was read, one reset by the peer, one by us, and one was never processed.
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        try peer.receive(Raw.frame(Raw.resetStream, stream: 1, Raw.number(0)))
        try peer.receive(Raw.frame(Raw.resetStream, stream: 3, Raw.number(8)))
        peer.client.reset(streamID: 5, .cancel)
        try peer.drain()
        #expect(peer.client.unclaimedWindow == 65_535 - 5 - 2 * 899)
        try peer.receive(Raw.goAway(lastStreamID: 7))
        #expect(peer.client.unclaimedWindow == 65_535 - 5 - 899)
        peer.client.connectionLost()
        #expect(peer.client.openStreams == 0 && peer.client.unsentBytes == 0)
    }

    @Test("Before the first SETTINGS nothing is known of the peer and one stream is written")
    func beforeSettings() throws {
        let pair = try Pair(server: HTTP2Settings(maxConcurrentStreams: 7))
        for tag in 0..<3 { try pair.submit(tag: tag) }
        #expect(pair.client.remoteSettings == nil)
        #expect(pair.client.remoteMaxConcurrentStreams == 1)
        try pair.clientToServer()
        #expect(pair.serverEvents.requests.count == 1)
        try pair.settle()
        #expect(pair.serverEvents.requests.count == 3)
        #expect(pair.client.remoteSettings == HTTP2Settings(maxConcurrentStreams: 7, maxHeaderListSize: 8000))
        #expect(pair.client.remoteMaxConcurrentStreams == 7)
        #expect(pair.clientEvents.settings == [HTTP2Settings(maxConcurrentStreams: 7, maxHeaderListSize: 8000)])
        #expect(pair.serverEvents.settings == [HTTP2Settings(enablePush: 0, maxHeaderListSize: 16384)])
        #expect(pair.serverEvents.acknowledgements == 1)
    }

    @Test("A peer that announces no limit allows very many streams")
    func noLimit() throws {
        let peer = try RawServer(settings: [(6, 8000)])
        #expect(peer.client.remoteSettings == HTTP2Settings(maxHeaderListSize: 8000))
        #expect(peer.client.remoteMaxConcurrentStreams > 1_000_000)
    }

    @Test("The stream limit can be lowered to 1 and raised again while streams run")
    func liveLimit() throws {
        let pair = try Pair(server: HTTP2Settings(maxConcurrentStreams: 10))
        try pair.settle()
        for tag in 0..<5 { try pair.submit(tag: tag) }
        try pair.settle()
        #expect(pair.serverEvents.requests.count == 5)
        try pair.server.submit(settings: HTTP2Settings(maxConcurrentStreams: 1))
        try pair.settle()
        #expect(pair.client.remoteMaxConcurrentStreams == 1)
        for tag in 5..<8 { try pair.submit(tag: tag) }
        try pair.settle()
        for answered in 0..<4 { pair.server.respond(streamID: Int32(answered * 2 + 1), status: 200) }
        try pair.settle()
        #expect(pair.serverEvents.requests.count == 5)
        pair.server.respond(streamID: 9, status: 200)
        try pair.settle()
        #expect(pair.serverEvents.requests.count == 6)
        try pair.server.submit(settings: HTTP2Settings(maxConcurrentStreams: 500))
        try pair.settle()
        #expect(pair.serverEvents.requests.count == 8)
        #expect(pair.serverEvents.acknowledgements == 3)
    }

    @Test("A limit of no streams at all holds everything back")
    func limitOfZero() throws {
        let peer = try RawServer(settings: [(3, 0)])
        try peer.submit(2)
        #expect(peer.client.lastWrittenStreamID == 0)
        #expect(!peer.client.wantsToSend)
        try peer.receive(Raw.settings([(3, 2)]))
        try peer.drain()
        #expect(peer.client.lastWrittenStreamID == 3)
    }

    @Test("Headers over the announced limit are answered 431 and kept from the delegate")
    func headerListTooLarge() throws {
        let pair = try Pair(headerListLimit: 500)
        pair.echo()
        try pair.submit(tag: 0, body: [1], extra: [("x", String(repeating: "a", count: 500))])
        try pair.submit(tag: 1, body: [1])
        try pair.settle()
        #expect(pair.client.remoteSettings?.maxHeaderListSize == 500)
        #expect(pair.clientEvents.responses[0]?.headers == [":status: 431"])
        #expect(pair.clientEvents.closureByTag == [0: .complete, 1: .complete])
        #expect(pair.serverEvents.requests.map(\.streamID) == [3])
    }

    @Test("Headers far over the limit are not decoded to their end but reset")
    func headerListAbsurd() throws {
        let pair = try Pair(headerListLimit: 500)
        let huge = (0..<80).map { ("x\($0)", String(repeating: "a", count: 1500)) }
        try pair.submit(tag: 0, extra: huge)
        try pair.submit(tag: 1)
        try pair.settle()
        #expect(pair.clientEvents.closureByTag == [0: .reset(.internalError)])
        #expect(pair.serverEvents.requests.map(\.streamID) == [3])
    }

    @Test("A response with headers over 16 KiB is reset, and the connection lives on")
    func responseHeadersTooLarge() throws {
        let pair = try Pair()
        try pair.submit(tag: 0)
        try pair.submit(tag: 1)
        try pair.settle()
        let fields = (0..<17).map { ("x\($0)", String(repeating: "~", count: 1000)) }
        pair.server.respond(streamID: 1, status: 200, headers: fields)
        pair.server.respond(streamID: 3, status: 200)
        try pair.settle()
        #expect(pair.clientEvents.closureByTag == [0: .reset(.internalError), 1: .complete])
    }

    @Test(
        "A setting outside its range is refused when the session is made",
        arguments: [
            HTTP2Settings(enablePush: 2), HTTP2Settings(initialWindowSize: 1 << 31), HTTP2Settings(maxFrameSize: 100),
        ])
    func invalidSettings(settings: HTTP2Settings) {
        let error = #expect(throws: HTTP2Error.self) {
            try HTTP2ClientSession(settings: settings, delegate: ClientRecorder())
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.isRetriable == false)
    }
}
