import EventLoop
import LocalStack
import Testing
import WorkerSettings

@testable import MartletCommands

@Suite("The health of a worker", .timeLimit(.minutes(1)))
struct HealthCommandTests {
    @Test("Where to ask: the command line, the worker's own variable, the usual place; this machine for every address")
    func place() throws {
        let rows: [(option: String?, variable: String?, String)] = [
            (nil, nil, "127.0.0.1:9464"),
            (nil, "", "127.0.0.1:9464"),
            (nil, "127.0.0.2:9464", "127.0.0.2:9464"),
            (nil, "0.0.0.0:9000", "127.0.0.1:9000"),
            ("[::]:9000", nil, "[::1]:9000"),
            ("localhost:1", "0.0.0.0:9000", "localhost:1"),
        ]
        for (option, variable, place) in rows {
            let environment = variable.map { ["MARTLET_ADMIN_LISTEN": $0] } ?? [:]
            #expect(try HealthCommand.place(option, environment: environment).description == place)
        }
        for text in ["localhost", "null", "127.0.0.1:0", ":9464", "host:port"] {
            let failure = #expect(throws: CommandFailure.self) { try HealthCommand.place(text, environment: [:]) }
            #expect(failure?.status == .usage)
            #expect(failure?.message.contains(text) == true)
        }
    }

    @Test("An answer is read as far as it is one")
    func answer() {
        let rows: [(String, AdminAnswer?)] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", AdminAnswer(status: 200, body: Array("ok\n".utf8))),
            ("HTTP/1.0 503 X\r\n\r\n", AdminAnswer(status: 503, body: [])),
            ("HTTP/1.1 200\r\nA: b\r\n\r\n", AdminAnswer(status: 200, body: [])),
            ("", nil), ("HTTP/1.1 200 OK\r\n", nil), ("HTTP/2 200 OK\r\n\r\n", nil), ("AMQP\0\0\u{9}\u{1}", nil),
            ("HTTP/1.1 twohundred OK\r\n\r\n", nil), ("HTTP/1.1\r\n\r\n", nil), ("\r\n\r\n", nil),
        ]
        for (text, answer) in rows { #expect(AdminAnswer(reading: Array(text.utf8)) == answer, "\(text)") }
    }

    @Test("A verdict is one line that says what is wrong")
    func verdict() {
        let rows: [(Int, String, isAboutReadiness: Bool, isGood: Bool, String)] = [
            (200, "ok\n", false, true, "alive"),
            (200, #"{"ready":true,"reasons":[]}"#, true, true, "ready"),
            (503, "lane 1 has not moved for 46s\n", false, false, "is stuck: lane 1 has not moved for 46s"),
            (503, "stuck\n", false, false, "is stuck: stuck"),
            (503, #"{"ready":false}"#, true, false, "is not ready; its log says why"),
            (503, #"{"ready":false,"reasons":["blocked"]}"#, true, false, "is not ready: blocked"),
            (503, #"{"reasons":["a","b","c","d","e"]}"#, true, false, "is not ready: a; b; c; and 2 more"),
            (503, "<html>", true, false, "is not ready; its log says why"),
            (404, "", false, false, "answers with status 404, which no worker does"),
        ]
        for (status, body, isAboutReadiness, isGood, words) in rows {
            let verdict = HealthVerdict(
                AdminAnswer(status: status, body: Array(body.utf8)), isAboutReadiness: isAboutReadiness)
            #expect(verdict.isGood == isGood)
            #expect(verdict.words == words)
        }
    }

    @Test("Whoever answers otherwise, or not at all, is status 1, with what was found")
    func strangers() throws {
        let port = try FreePort.next()
        let nobody = try Executable.run(["health", "--address", "127.0.0.1:\(port)"])
        #expect(nobody.status == 1)
        #expect(nobody.errorText.contains("does not answer: connecting to 127.0.0.1:\(port): Connection refused"))
        let silent = try Listener(address: .loopback(port: 0))
        let late = try Executable.run(["health", "--timeout", "50ms", "--address", silent.address.description])
        #expect(late.status == 1)
        #expect(late.errorText.contains("does not answer: no answer in time"), "\(late.errorText)")
    }
}
