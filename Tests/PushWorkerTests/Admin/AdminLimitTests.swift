import EventLoop
import Foundation
import Glibc
import LocalStack
import Testing

@testable import PushWorker

@Suite("What a connection to the admin server may take", .timeLimit(.minutes(2)))
struct AdminLimitTests {
    private func connect(_ address: String) throws -> Socket {
        let port = try #require(Int(address.split(separator: ":").last ?? ""))
        return try Socket.connect(to: .loopback(port: port), timeout: .seconds(10))
    }

    private func send(_ text: String, on socket: borrowing Socket) throws {
        let bytes = Array(text.utf8)
        #expect(try socket.write(bytes.span) == bytes.count)
    }

    /// Reads until the server closes the connection.
    private func readToEnd(_ socket: borrowing Socket) throws -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard try socket.wait(for: .readable, timeout: .seconds(30)) else { throw Unclosed() }
            do {
                guard case .bytes(let count) = try socket.read(into: &buffer) else { break }
                all += buffer[..<count]
            } catch {
                break
            }
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads the answer of a worker that lives.
    private func readAnswer(_ socket: borrowing Socket) throws {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.hasSuffix("ok\n") {
            guard try socket.wait(for: .readable, timeout: .seconds(30)) else { throw Unclosed() }
            guard case .bytes(let count) = try socket.read(into: &buffer) else { throw Unanswered() }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    private struct Unclosed: Error {}
    private struct Unanswered: Error {}

    @Test("a roster lets the longest silence go first, and an answer under way last")
    func roster() {
        var roster = ConnectionRoster<Int>(limit: 3)
        #expect([1, 2, 3].map { roster.add($0) } == [nil, nil, nil])
        roster.requestArrived(1)
        #expect(roster.add(4) == 2)
        roster.answered(1)
        #expect(roster.waiting == [3, 4, 1])
        for id in [3, 4, 1] { roster.requestArrived(id) }
        #expect(roster.add(5) == 3)
        #expect(roster.add(6) == 5)
        roster.remove(4)
        roster.remove(9)
        roster.requestArrived(9)
        roster.answered(9)
        #expect(roster.answering == [1] && roster.waiting == [6])
        #expect(roster.add(7) == nil)
    }

    @Test("a request that comes drop by drop is cut off")
    func slow() async throws {
        let tests = AdminServerTests()
        try await tests.withServer(TestSource(), requestLimit: .seconds(2)) { address in
            let silent = try connect(address)
            let slow = try connect(address)
            try send("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", on: slow)
            #expect(try readToEnd(slow) == "")
            #expect(try readToEnd(silent) == "")
            #expect(try await tests.curl("\(address)/livez").code == "200")
        }
    }

    @Test("a body without end is cut off, and so are headers without end")
    func endless() async throws {
        let tests = AdminServerTests()
        try await tests.withServer(TestSource()) { address in
            let body = try connect(address)
            try send("POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", on: body)
            let chunk = "400\r\n\(String(repeating: "x", count: 1024))\r\n"
            for _ in 0..<5 { try send(chunk, on: body) }
            #expect(try !readToEnd(body).contains(" 200 "))
            let announced = try connect(address)
            try send("POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", on: announced)
            try send(String(repeating: "x", count: AdminConnectionGuard.bodyLimit + 1), on: announced)
            #expect(try !readToEnd(announced).contains(" 200 "))
            let headers = try connect(address)
            try send("GET /livez HTTP/1.1\r\n", on: headers)
            for number in 0..<AdminServer.headerLimits.count + 1 { try send("X-\(number): y\r\n", on: headers) }
            #expect(try readToEnd(headers).hasPrefix("HTTP/1.1 400 "))
            let line = try connect(address)
            try send("GET /\(String(repeating: "a", count: AdminServer.headerLimits.list)) HTTP/1.1\r\n\r\n", on: line)
            #expect(try readToEnd(line).hasPrefix("HTTP/1.1 400 "))
            #expect(try await tests.curl("\(address)/livez").code == "200")
        }
    }

    @Test("bodies that end after their answer keep no connection busy")
    func lateBodies() async throws {
        let tests = AdminServerTests()
        try await tests.withServer(TestSource()) { address in
            let head = "GET /livez HTTP/1.1\r\nHost: localhost\r\n"
            let crowd = try Crowd(of: AdminServer.connectionLimit - 1) {
                let socket = try connect(address)
                try send("\(head)Content-Length: 1\r\n\r\n", on: socket)
                try readAnswer(socket)
                try send("x", on: socket)
                return socket
            }
            // One too many, for which one of the crowd goes and no probe.
            let probe = try connect(address)
            let another = try connect(address)
            try send("\(head)\r\n", on: another)
            try readAnswer(another)
            try send("\(head)\r\n", on: probe)
            try readAnswer(probe)
            try crowd.waitUntil(open: AdminServer.connectionLimit - 2)
        }
    }

    @Test("a thousand silent connections keep no probe out, and hold no more than the limit")
    func crowd() async throws {
        let tests = AdminServerTests()
        try await tests.withServer(TestSource()) { address in
            let crowd = try Crowd(of: 1000) { try connect(address) }
            for _ in 0..<5 { #expect(try await tests.curl("\(address)/livez").code == "200") }
            // Each probe came last, so what is left of the crowd is what fits beside it.
            try crowd.waitUntil(open: AdminServer.connectionLimit)
        }
    }
}

/// Many open sockets; noncopyable ones do not fit into an array.
private final class Crowd {
    private final class Member {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private let members: [Member]

    init(of count: Int, _ connect: () throws -> Socket) throws {
        members = try (0..<count).map { _ in Member(try connect()) }
    }

    /// Waits until the server has closed all but so many.
    func waitUntil(open limit: Int) throws {
        var open = members
        var buffer: [UInt8] = [0]
        while open.count > limit {
            open = try open.filter { member in
                guard try member.socket.wait(for: .readable, timeout: .milliseconds(1)) else { return true }
                return (try? member.socket.read(into: &buffer)) == .wouldBlock
            }
        }
    }
}
