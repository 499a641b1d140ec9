import Foundation
import FoundationNetworking
import Testing
import WebClient

@Suite("Requests over HTTP beside the way of a job", .timeLimit(.minutes(1)))
struct WebSessionTests {
    private func ask(
        _ server: CannedServer, longestBody: Int, limit: Double? = nil
    ) async throws -> (body: Data, head: HTTPURLResponse) {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        return try await WebSession(timeout: 30, limit: limit, longestBody: longestBody)
            .answer(to: URLRequest(url: url))
    }

    @Test("An answer may be as long as the limit, with and without its length", arguments: [true, false])
    func longest(_ tellsLength: Bool) async throws {
        let body = String(repeating: "a", count: 100_000)
        let length = tellsLength ? "Content-Length: 100000\r\n" : ""
        let server = try CannedServer("HTTP/1.1 200 OK\r\n\(length)\r\n\(body)")
        let answer = try await ask(server, longestBody: 100_000)
        #expect(answer.head.statusCode == 200)
        #expect(answer.body == Data(body.utf8))
    }

    @Test("A longer answer is a failure, with and without its length", arguments: [true, false])
    func tooLong(_ tellsLength: Bool) async throws {
        let body = String(repeating: "a", count: 100_001)
        let length = tellsLength ? "Content-Length: 100001\r\n" : ""
        let server = try CannedServer("HTTP/1.1 200 OK\r\n\(length)\r\n\(body)")
        let failure = await #expect(throws: WebSession.Failure.self) { try await ask(server, longestBody: 100_000) }
        #expect(failure?.reason == "the answer is longer than 100000 bytes")
        #expect(failure?.kind == .tooLong)
    }

    @Test("An answer without an end is read up to the limit, and the connection is closed")
    func endless() async throws {
        let server = try CannedServer("HTTP/1.1 200 OK\r\n\r\n", then: .repeats("more and more "))
        let failure = await #expect(throws: WebSession.Failure.self) { try await ask(server, longestBody: 1 << 20) }
        #expect(failure?.reason == "the answer is longer than 1048576 bytes")
        await server.isLeft()
    }

    @Test("A server that never answers is left when the time is up")
    func silent() async throws {
        let server = try CannedServer("", then: .waits)
        let failure = await #expect(throws: WebSession.Failure.self) {
            try await ask(server, longestBody: 100, limit: 0.05)
        }
        #expect(failure?.reason == "no whole answer within 0 s")
        await server.isLeft()
    }

    @Test("A cancelled request ends, also in the midst of its answer", arguments: ["", "HTTP/1.1 200 OK\r\n\r\nsome"])
    func cancelled(_ answer: String) async throws {
        let server = try CannedServer(answer, then: .waits)
        let request = Task { try await ask(server, longestBody: 100) }
        await server.isAsked()
        request.cancel()
        let failure = await #expect(throws: WebSession.Failure.self) { try await request.value }
        #expect(failure?.kind == .unanswered)
        await server.isLeft()
    }

    @Test("A redirection is an answer, and is not followed")
    func redirected() async throws {
        let server = try CannedServer(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        #expect(try await ask(server, longestBody: 100).head.statusCode == 302)
    }

    @Test("A server that wants another login has refused this one")
    func unauthorized() async throws {
        let server = try CannedServer(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
        let failure = await #expect(throws: WebSession.Failure.self) { try await ask(server, longestBody: 100) }
        #expect(failure?.kind == .loginRefused)
    }
}
