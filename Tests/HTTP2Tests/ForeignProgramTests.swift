import Testing

@testable import HTTP2

@Suite("Programs we did not write", .serialized, .timeLimit(.minutes(1)))
struct ForeignProgramTests {
    @Test("nghttpd returns every body of thousands of requests", arguments: [100, 4096])
    func nghttpd(size: Int) throws {
        // Before connecting: nghttpd gives a client ten seconds for its first answer.
        let bodies = (0..<2000).map { number in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) } }
        let port = try LoopbackSocket.listening().port
        let program = try StartedProgram(
            "/usr/sbin/nghttpd", ["--no-tls", "--echo-upload", "--address=127.0.0.1", "-m", "50", "\(port)"])
        defer { withExtendedLifetime(program) {} }
        let socket = try LoopbackSocket.connected(port: port)
        let events = ClientRecorder()
        let client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        for (tag, body) in bodies.enumerated() {
            _ = try client.submit(.push(), body: body, range: 0..<size, tag: tag)
        }
        client.ping(42)
        try run(client, over: socket) { client.openStreams == 0 && !events.pings.isEmpty }
        #expect(client.remoteMaxConcurrentStreams == 50)
        #expect(events.pings == [42])
        #expect(events.closures.count == 2000)
        #expect(events.closures.allSatisfy { $0.closure == .complete })
        #expect(events.responses.count == 2000)
        #expect(events.responses.allSatisfy { $0.value.body == bodies[$0.key] })
        #expect(events.responses.allSatisfy { $0.value.headers.first == ":status: 200" })
    }

    @Test("A killed server leaves every open request told exactly once")
    func killedServer() throws {
        let port = try LoopbackSocket.listening().port
        var program: StartedProgram? = try StartedProgram(
            "/usr/sbin/nghttpd", ["--no-tls", "--echo-upload", "--address=127.0.0.1", "-m", "10", "\(port)"])
        let socket = try LoopbackSocket.connected(port: port)
        let events = ClientRecorder()
        let client = try HTTP2ClientSession(settings: HTTP2Settings(), delegate: events)
        for tag in 0..<100 { _ = try client.submit(.push(), body: [1], range: 0..<1, tag: tag) }
        try run(client, over: socket) { events.closures.count >= 30 }
        #expect(program != nil)
        program = nil
        client.connectionLost()
        #expect(events.closures.map(\.tag).sorted() == Array(0..<100))
        #expect(events.closures.contains { $0.closure == .unprocessed })
    }

    @Test("h2load is served", arguments: [[], ["-d", "/etc/os-release"]])
    func h2load(extra: [String]) throws {
        let (listener, port) = try LoopbackSocket.listening()
        let program = try StartedProgram(
            "/usr/bin/h2load", ["-n", "3000", "-c", "1", "-m", "100"] + extra + ["http://127.0.0.1:\(port)/"])
        let events = ServerRecorder()
        let server = try HTTP2ServerSession(
            settings: HTTP2Settings(maxConcurrentStreams: 100), bodyLimit: 1000, headerListLimit: 8000,
            delegate: events)
        events.onRequest = { [unowned server] in
            server.respond(streamID: $0.streamID, status: 200, body: Array("hello".utf8))
        }
        try serve(server, over: try listener.accept())
        #expect(program.waitForExit() == 0)
        #expect(events.requests.count == 3000)
        #expect(events.closed.count == 3000)
        #expect(events.closed.allSatisfy { $0.value == .noError })
        #expect(events.requests.allSatisfy { $0.body.isEmpty == extra.isEmpty })
    }

    @Test("curl gets a status, headers and a body over many windows")
    func curl() throws {
        let (listener, port) = try LoopbackSocket.listening()
        let program = try StartedProgram(
            "/usr/bin/curl",
            ["--fail", "--silent", "--http2-prior-knowledge", "--data", "{}", "http://127.0.0.1:\(port)/3/device/0a"])
        let events = ServerRecorder()
        let server = try HTTP2ServerSession(
            settings: HTTP2Settings(), bodyLimit: 1000, headerListLimit: 8000, delegate: events)
        events.onRequest = { [unowned server] request in
            server.respond(
                streamID: request.streamID, status: 200, headers: [("apns-id", "1")],
                body: Array(repeating: UInt8(ascii: "x"), count: 1 << 20))
        }
        try serve(server, over: try listener.accept())
        #expect(program.waitForExit() == 0)
        let request = try #require(events.requests.first)
        #expect(request.lines.contains(":path: /3/device/0a"))
        #expect(request.body == Array("{}".utf8))
    }

    /// Moves bytes between a client session and a socket until a condition holds.
    private func run(
        _ client: HTTP2ClientSession, over socket: LoopbackSocket, until isDone: () -> Bool
    ) throws {
        var output: [UInt8] = []
        while !isDone() {
            output.removeAll(keepingCapacity: true)
            try client.send(into: &output, upTo: 1 << 16)
            try socket.write(output)
            if client.wantsToSend { continue }
            if isDone() { return }
            let input = try socket.read()
            guard !input.isEmpty else { throw LoopbackError(call: "the server closed the connection") }
            try client.receive(input.span)
        }
    }

    /// Serves one connection until the client closes it.
    private func serve(_ server: HTTP2ServerSession, over socket: LoopbackSocket) throws {
        var output: [UInt8] = []
        while !server.isFinished {
            repeat {
                output.removeAll(keepingCapacity: true)
                try server.send(into: &output, upTo: 1 << 16)
                try socket.write(output)
            } while server.wantsToSend && !output.isEmpty
            let input = try socket.read()
            if input.isEmpty { return }
            try server.receive(input.span)
        }
    }
}
