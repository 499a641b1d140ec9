import Testing

@testable import HTTP2

@Suite("How requests end", .timeLimit(.minutes(1)))
struct ClosureTests {
    @Test("GOAWAY splits the open requests at its last stream", arguments: [1, 16384])
    func goAwaySplit(fragment: Int) throws {
        let pair = try Pair(fragment: fragment)
        for tag in 0..<10 { try pair.submit(tag: tag, body: [1]) }
        try pair.settle()
        pair.server.goAway(lastStreamID: 9, .noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        try pair.settle()
        #expect(
            pair.clientEvents.goAways == [
                HTTP2GoAway(lastStreamID: 9, code: .noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
            ])
        #expect(pair.clientEvents.closures.map(\.tag).sorted() == [5, 6, 7, 8, 9])
        #expect(pair.clientEvents.closures.allSatisfy { $0.closure == .unprocessed })
        for streamID: Int32 in [1, 3, 5, 7, 9] { pair.server.respond(streamID: streamID, status: 200) }
        try pair.settle()
        #expect(pair.clientEvents.closures.suffix(5).allSatisfy { $0.closure == .complete })
        #expect(pair.clientEvents.closures.count == 10)
        #expect(pair.client.isFinished)
        #expect(pair.server.isFinished)
    }

    @Test("A GOAWAY is told before the requests it ends, and nothing can be submitted inside that call")
    func goAwayOrder() throws {
        let peer = try RawServer()
        try peer.submit(2)
        var closuresBefore: Int?
        var refusal: HTTP2Error?
        peer.events.onGoAway = { [unowned peer] in
            closuresBefore = peer.events.closures.count
            do throws(HTTP2Error) {
                _ = try peer.client.submit(.push(), body: [], range: 0..<0, tag: 5)
            } catch { refusal = error }
        }
        try peer.receive(Raw.goAway(lastStreamID: 0, code: 7, debugData: "busy"))
        #expect(closuresBefore == 0)
        #expect(refusal?.code == .goingAway)
        #expect(peer.events.closureByTag == [0: .unprocessed, 1: .unprocessed])
    }

    @Test("The header of a GOAWAY frame alone stops new requests")
    func goAwayHeader() throws {
        let peer = try RawServer()
        try peer.submit(1)
        let frame = Raw.goAway(lastStreamID: 1)
        try peer.receive(Array(frame.prefix(8)))
        #expect(peer.client.acceptsRequests)
        try peer.receive([frame[8]])
        #expect(!peer.client.acceptsRequests)
        #expect(peer.events.goAways.isEmpty)
        let error = #expect(throws: HTTP2Error.self) {
            try peer.client.submit(.push(), body: [], range: 0..<0, tag: 1)
        }
        #expect(error?.code == .goingAway)
        try peer.receive(Array(frame.suffix(from: 9)))
        #expect(peer.events.goAways.count == 1)
        #expect(peer.client.openStreams == 1)
    }

    @Test("GOAWAY ends requests that still wait for a free stream, at once")
    func goAwayUnwritten() throws {
        let peer = try RawServer(settings: [(3, 1)])
        try peer.submit(3)
        try peer.receive(Raw.goAway(lastStreamID: 1))
        #expect(peer.events.closureByTag == [1: .unprocessed, 2: .unprocessed])
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        try peer.drain()
        #expect(peer.events.closures.count == 3)
        #expect(peer.events.closureByTag[0] == .complete)
        #expect(peer.client.isFinished)
    }

    @Test("A second, lower GOAWAY ends the requests between the two")
    func secondGoAway() throws {
        let peer = try RawServer()
        try peer.submit(3)
        try peer.receive(Raw.goAway(lastStreamID: 0x7fff_ffff))
        #expect(peer.events.closures.isEmpty)
        try peer.receive(Raw.goAway(lastStreamID: 3))
        #expect(peer.events.closureByTag == [2: .unprocessed])
        #expect(peer.events.goAways.count == 2)
    }

    @Test("A server that only announces its leave still takes requests that are under way")
    func shutdownNotice() throws {
        let pair = try Pair()
        pair.echo()
        try pair.settle()
        pair.server.goAway(lastStreamID: .max, .noError)
        try pair.submit(tag: 0)
        try pair.settle()
        #expect(pair.clientEvents.closureByTag == [0: .complete])
        #expect(pair.clientEvents.goAways.first?.lastStreamID == .max)
    }

    @Test("A client that says goodbye finishes its requests and takes no more")
    func ownGoodbye() throws {
        let pair = try Pair()
        pair.echo()
        try pair.submit(tag: 0)
        pair.client.goAway(.noError)
        #expect(!pair.client.acceptsRequests)
        #expect(throws: HTTP2Error.self) { try pair.submit(tag: 1) }
        try pair.settle()
        #expect(pair.clientEvents.closureByTag == [0: .complete])
        #expect(pair.serverEvents.goAways == [HTTP2GoAway(lastStreamID: 0, code: .noError, debugData: [])])
        #expect(pair.client.isFinished)
    }

    @Test(
        "A reset by the server says whether the request can have been processed",
        arguments: [
            (HTTP2ErrorCode.refusedStream, StreamClosure.unprocessed), (.cancel, .reset(.cancel)),
            (.noError, .reset(.noError)), (HTTP2ErrorCode(rawValue: 99), .reset(HTTP2ErrorCode(rawValue: 99))),
        ])
    func serverReset(code: HTTP2ErrorCode, closure: StreamClosure) throws {
        let pair = try Pair()
        pair.serverEvents.onRequest = { [unowned pair] in pair.server.reset(streamID: $0.streamID, code) }
        try pair.submit(tag: 4, body: [1])
        try pair.settle()
        #expect(pair.clientEvents.closures == [SeenClosure(tag: 4, streamID: 1, closure: closure)])
        #expect(pair.serverEvents.closed == [1: code])
    }

    @Test("A complete response counts, whatever reset follows it", arguments: [UInt32(0), 8, 7])
    func resetAfterResponse(code: UInt32) throws {
        // The body cannot be written, so the stream stays open after the response.
        let peer = try RawServer(settings: [(4, 0)])
        try peer.submit(1, body: [1])
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        #expect(peer.events.closures.isEmpty)
        try peer.receive(Raw.frame(Raw.resetStream, stream: 1, Raw.number(code)))
        #expect(peer.events.closureByTag == [0: .complete])
    }

    @Test("A response HTTP/2 forbids resets its stream only")
    func malformedResponse() throws {
        let peer = try RawServer()
        try peer.submit(2)
        try peer.receive(
            Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.field("no", "status")))
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 3, Raw.status200))
        try peer.drain()
        #expect(peer.events.closureByTag == [0: .reset(.protocolError), 1: .complete])
    }

    @Test("A request this side resets is cancelled, and the server hears the code")
    func ownReset() throws {
        let pair = try Pair()
        try pair.submit(tag: 0)
        try pair.submit(tag: 1)
        try pair.settle()
        pair.client.reset(streamID: 1, .cancel)
        pair.client.reset(streamID: 1, .cancel)
        pair.client.reset(streamID: 77, .cancel)
        #expect(pair.clientEvents.closures.isEmpty)
        try pair.settle()
        #expect(pair.clientEvents.closures == [SeenClosure(tag: 0, streamID: 1, closure: .cancelled)])
        #expect(pair.serverEvents.closed == [1: .cancel])
        #expect(pair.client.openStreams == 1)
    }

    @Test("A request reset before it was written is unprocessed and frees its tag, even while no stream is free")
    func ownResetUnwritten() throws {
        let peer = try RawServer(settings: [(3, 1)])
        try peer.submit(3)
        peer.client.reset(streamID: 3, .cancel)
        #expect(peer.client.wantsToSend)
        try peer.drain()
        #expect(peer.events.closureByTag == [1: .unprocessed])
        let again = try peer.client.submit(.push(), body: [1], range: 0..<1, tag: 1)
        try peer.receive(Raw.settings([(3, 10)]))
        try peer.drain()
        #expect(peer.events.closures.count == 1)
        try peer.receive(
            Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: UInt32(again), Raw.status200))
        #expect(peer.events.closures.last == SeenClosure(tag: 1, streamID: again, closure: .complete))
        #expect(peer.client.openStreams == 2)
    }

    @Test("A response that is complete before the reset is written counts")
    func responseBeatsReset() throws {
        let peer = try RawServer(settings: [(4, 0)])
        try peer.submit(1, body: [1])
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        peer.client.reset(streamID: 1, .cancel)
        try peer.drain()
        #expect(peer.events.closureByTag == [0: .complete])
    }

    @Test("A lost connection ends every request in the way that fits what was written")
    func lostConnection() throws {
        let peer = try RawServer(settings: [(3, 5), (4, 0)])
        try peer.submit(7, body: [1])
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.status200))
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: 3, Raw.status200))
        peer.client.reset(streamID: 5, .cancel)
        try peer.receive(Raw.goAway(lastStreamID: 7))
        #expect(peer.events.closureByTag == [4: .unprocessed, 5: .unprocessed, 6: .unprocessed])
        peer.client.connectionLost()
        peer.client.connectionLost()
        #expect(peer.events.closures.count == 7)
        #expect(
            peer.events.closureByTag == [
                0: .complete, 1: .lost, 2: .cancelled, 3: .lost, 4: .unprocessed, 5: .unprocessed, 6: .unprocessed,
            ])
        #expect(peer.client.isFinished)
        #expect(!peer.client.wantsToSend)
        #expect(peer.client.openStreams == 0)
        #expect(try peer.drain().isEmpty)
        let error = #expect(throws: HTTP2Error.self) { try peer.receive([0]) }
        #expect(error?.code == .sessionEnded)
    }

    @Test("Requests whose frames were never taken are unprocessed when the connection is lost")
    func lostBeforeWritten() throws {
        let events = ClientRecorder()
        let client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        for tag in 0..<2 { _ = try client.submit(.push(), body: [1], range: 0..<1, tag: tag) }
        client.connectionLost()
        #expect(events.closureByTag == [0: .unprocessed, 1: .unprocessed])
        #expect(throws: HTTP2Error.self) { try client.submit(.push(), body: [], range: 0..<0, tag: 0) }
    }
}
