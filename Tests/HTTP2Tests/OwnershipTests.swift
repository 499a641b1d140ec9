import Testing

@testable import HTTP2

@Suite("Who owns what", .timeLimit(.minutes(1)))
struct OwnershipTests {
    @Test("Sessions and delegates are freed, used or not, with requests open or not", arguments: 0..<4)
    func leaks(stage: Int) throws {
        weak var client: HTTP2ClientSession?
        weak var server: HTTP2ServerSession?
        weak var clientEvents: ClientRecorder?
        weak var serverEvents: ServerRecorder?
        do {
            let pair = try Pair()
            client = pair.client
            server = pair.server
            clientEvents = pair.clientEvents
            serverEvents = pair.serverEvents
            if stage > 0 { try pair.submit(tag: 0, body: [1, 2, 3]) }
            if stage > 1 { try pair.settle() }
            if stage > 2 {
                pair.server.respond(streamID: 1, status: 200, body: Array(repeating: 1, count: 100_000))
                try pair.settle()
            }
            #expect(client != nil)
        }
        #expect(client == nil)
        #expect(server == nil)
        #expect(clientEvents == nil)
        #expect(serverEvents == nil)
    }

    @Test("A session that cannot be made leaves nothing behind")
    func failedInit() {
        let events = ClientRecorder()
        #expect(throws: HTTP2Error.self) {
            try HTTP2ClientSession(settings: HTTP2Settings(enablePush: 7), delegate: events)
        }
        weak var gone: ServerRecorder?
        do {
            let serverEvents = ServerRecorder()
            gone = serverEvents
            #expect(throws: HTTP2Error.self) {
                try HTTP2ServerSession(
                    settings: HTTP2Settings(maxFrameSize: 1), bodyLimit: 1, headerListLimit: 1, delegate: serverEvents)
            }
        }
        #expect(gone == nil)
    }

    @Test("A body is let go when its stream closes")
    func bodyReleased() throws {
        let pair = try Pair()
        pair.echo()
        try pair.submit(tag: 0, body: Array(repeating: 1, count: 4096))
        #expect(pair.client.slots[0].body.count == 4096)
        try pair.settle()
        #expect(pair.client.slots[0].body.isEmpty)
        #expect(pair.server.slots.allSatisfy { $0.response.isEmpty && $0.request.body.isEmpty })
    }
}
