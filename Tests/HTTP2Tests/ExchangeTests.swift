import Testing

@testable import HTTP2

@Suite("Requests and responses", .timeLimit(.minutes(1)))
struct ExchangeTests {
    @Test("A request arrives with its headers in order and is answered", arguments: [1, 2, 3, 7, 9, 10, 100, 65536])
    func exchange(fragment: Int) throws {
        let pair = try Pair(fragment: fragment)
        pair.echo()
        try pair.submit(tag: 3, body: Array("hello".utf8), extra: [("apns-id", "a"), ("apns-id", "b"), ("x", "")])
        try pair.settle()
        let request = try #require(pair.serverEvents.requests.first)
        #expect(
            request.lines == [
                ":method: POST", ":scheme: https", ":path: /3/device/00", ":authority: localhost", "apns-id: a",
                "apns-id: b", "x: ",
            ])
        #expect(request.value(of: "apns-id").map { Array(request.headerBytes[$0]) } == Array("a".utf8))
        #expect(request.value(of: "apns") == nil)
        #expect(request.body == Array("hello".utf8))
        #expect(!request.bodyTruncated)
        #expect(
            pair.clientEvents.responses == [
                3: SeenResponse(headers: [":status: 200", "apns-id: 1"], body: Array("hello".utf8))
            ])
        #expect(pair.clientEvents.closures == [SeenClosure(tag: 3, streamID: 1, closure: .complete)])
        #expect(pair.serverEvents.closed == [1: .noError])
        #expect(pair.client.openStreams == 0)
        #expect(pair.server.openStreams == 0)
    }

    @Test("A thousand streams at once are all answered with their own body", arguments: [1, 1000, 16384])
    func thousandStreams(fragment: Int) throws {
        let pair = try Pair(fragment: fragment)
        pair.echo()
        for tag in 0..<1000 { try pair.submit(tag: tag, body: Array("body \(tag)".utf8)) }
        #expect(pair.client.openStreams == 1000)
        try pair.settle()
        #expect(pair.clientEvents.closures.count == 1000)
        #expect(pair.clientEvents.closures.allSatisfy { $0.closure == .complete })
        for tag in 0..<1000 { #expect(pair.clientEvents.responses[tag]?.body == Array("body \(tag)".utf8)) }
        #expect(pair.client.openStreams == 0)
        #expect(pair.server.openStreams == 0)
        #expect(pair.server.lastStreamID == 1999)
    }

    @Test("A tag can be used again inside the call that closes it, for thousands of requests")
    func recycledTags() throws {
        let pair = try Pair()
        pair.echo()
        var left = 5000
        var refused = 0
        pair.clientEvents.onClosure = { [unowned pair] closed in
            guard left > 0 else { return }
            left -= 1
            do { try pair.submit(tag: closed.tag, body: [1, 2, 3]) } catch { refused += 1 }
        }
        for tag in 0..<40 { try pair.submit(tag: tag, body: [1]) }
        try pair.settle()
        #expect(refused == 0)
        #expect(pair.clientEvents.closures.count == 5040)
        #expect(pair.clientEvents.closures.allSatisfy { $0.closure == .complete })
        #expect(Set(pair.clientEvents.closures.map(\.streamID)).count == 5040)
        #expect(pair.client.slots.count == 40)
        #expect(pair.server.slots.count <= 40)
    }

    @Test("Only the given range of the array is sent", arguments: [0..<0, 0..<1, 3..<9, 9..<10, 0..<10])
    func bodyRange(range: Range<Int>) throws {
        let pair = try Pair()
        let body: [UInt8] = Array(0..<10)
        _ = try pair.client.submit(.push(), body: body, range: range, tag: 0)
        try pair.settle()
        #expect(pair.serverEvents.requests.map(\.body) == [Array(body[range])])
    }

    @Test("Sending stops at the limit, even inside a frame", arguments: [1, 24, 50, 16384])
    func sendLimit(limit: Int) throws {
        let events = ClientRecorder()
        let session = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        _ = try session.submit(.push(), body: Array(repeating: 7, count: 300), range: 0..<300, tag: 0)
        var output: [UInt8] = [9]
        while session.wantsToSend {
            let before = output.count
            try session.send(into: &output, upTo: limit)
            #expect(output.count - before <= limit)
        }
        #expect(output[1...24].elementsEqual("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        #expect(output.suffix(300).allSatisfy { $0 == 7 })
    }

    @Test("A body over the limit of the server is read to its end, cut off and marked")
    func truncatedBody() throws {
        let pair = try Pair(bodyLimit: 1000)
        pair.echo()
        try pair.submit(tag: 0, body: Array(repeating: 1, count: 1000))
        try pair.submit(tag: 1, body: Array(repeating: 2, count: 300_000))
        try pair.settle()
        #expect(pair.serverEvents.requests.map(\.body.count) == [1000, 1000])
        #expect(pair.serverEvents.requests.map(\.bodyTruncated) == [false, true])
        #expect(pair.clientEvents.closureByTag == [0: .complete, 1: .complete])
    }

    @Test("Trailers of a request are ignored, and the request still arrives")
    func requestTrailers() throws {
        let events = ServerRecorder()
        let server = try HTTP2ServerSession(
            settings: HTTP2Settings(), bodyLimit: 10, headerListLimit: 8000, delegate: events)
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Raw.settings([])
        // :method POST, :scheme https, :path /, :authority a
        bytes += Raw.frame(
            Raw.headers, flags: Raw.endHeaders, stream: 1, [0x83, 0x87, 0x84, 0x01, 1, UInt8(ascii: "a")])
        bytes += Raw.frame(Raw.data, stream: 1, [1, 2])
        bytes += Raw.frame(
            Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.field("checksum", "none"))
        try server.receive(bytes.span)
        #expect(
            events.requests.map(\.lines) == [[":method: POST", ":scheme: https", ":path: /", ":authority: a"]])
        #expect(events.requests.map(\.body) == [[1, 2]])
    }

    @Test("Interim responses and trailers do not reach the delegate")
    func interimAndTrailers() throws {
        let peer = try RawServer()
        try peer.submit(1)
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: 1, [0x08, 3] + Array("103".utf8)))
        try peer.receive(Raw.frame(Raw.headers, flags: Raw.endHeaders, stream: 1, Raw.status200 + Raw.field("a", "b")))
        try peer.receive(Raw.frame(Raw.data, stream: 1, [1]))
        try peer.receive(
            Raw.frame(Raw.headers, flags: Raw.endHeaders | Raw.endStream, stream: 1, Raw.field("trailer", "yes")))
        #expect(peer.events.responses == [0: SeenResponse(headers: [":status: 200", "a: b"], body: [1])])
        #expect(peer.events.closureByTag == [0: .complete])
    }

    @Test("A ping comes back with its number, and the server hears of it")
    func ping() throws {
        let pair = try Pair()
        pair.client.ping(0x0102_0304_0506_0708)
        pair.client.ping(.max)
        try pair.settle()
        #expect(pair.clientEvents.pings == [0x0102_0304_0506_0708, .max])
        #expect(pair.serverEvents.pings == [0x0102_0304_0506_0708, .max])
    }

    @Test("An answer to a stream that is gone or was answered is declined")
    func respondTwice() throws {
        let pair = try Pair()
        try pair.submit(tag: 0)
        try pair.settle()
        #expect(pair.server.respond(streamID: 1, status: 200))
        #expect(!pair.server.respond(streamID: 1, status: 400))
        #expect(!pair.server.respond(streamID: 3, status: 200))
        try pair.settle()
        #expect(!pair.server.respond(streamID: 1, status: 200))
        #expect(pair.clientEvents.responses[0]?.headers == [":status: 200"])
    }

    @Test("The library tells its version")
    func version() {
        #expect(HTTP2LibraryInfo.version.split(separator: ".").count == 3)
    }
}
