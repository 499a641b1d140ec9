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
            lines(request) == [
                ":method: POST", ":scheme: https", ":path: /3/device/00", ":authority: localhost", "apns-id: a",
                "apns-id: b", "x: ",
            ])
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
}
