import Foundation
import TestSupport
import Testing

@testable import APNSSimulator

@Suite("What people see", .timeLimit(.minutes(2)))
struct PageTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func with(_ body: (RunningSimulator, String) async throws -> Void) async throws {
        try await SimulatorBench.with({
            $0.devices.port = 0
            $0.adminPort = 0
            $0.streams = .fixed(100)
        }) { simulator in
            try await body(simulator, "http://127.0.0.1:\(simulator.adminPort ?? 0)")
        }
    }

    private func push(_ token: String, _ payload: String, collapse: String? = nil) throws -> RequestBuilder {
        try SimulatorBench.push(maker).token(token).payload(payload).with("apns-collapse-id", collapse)
    }

    private func get(_ url: String, _ more: [String] = []) async throws -> String {
        try await SimulatorBench.run(Program.curl, ["--silent"] + more + [url]).output
    }

    @Test("The page draws devices as phones, and notifications arrive on them live and harmless")
    func page() async throws {
        try await with { simulator, address in
            let browser = try await Browser(page: "\(address)/")
            try await look(simulator, browser)
            await browser.close()
        }
    }

    private func look(_ simulator: RunningSimulator, _ browser: Browser) async throws {
        try await browser.wait(for: "document.getElementById('live').textContent === 'live'")
        try await browser.wait(for: "!document.getElementById('empty').hidden")
        let hint = try await browser.evaluate("document.getElementById('hint').textContent")
        #expect(hint == "martlet device --simulator localhost:\(simulator.devicePort ?? 0) --app com.example.app")

        let device = try TestDevice(simulator) { $0.name = "<b>Ada</b>" }
        let token = try await device.token()
        try await browser.wait(
            for: "document.querySelector('.device:not(.off) .label b').textContent === '<b>Ada</b>'")
        #expect(try await browser.evaluate("document.getElementById('empty').hidden") == "true")
        let shape = try await browser.evaluate(
            "(r => r.width + ' x ' + r.height)(document.querySelector('.phone').getBoundingClientRect())")
        #expect(shape == "262 x 520")
        let blank = try await browser.picture(of: ".screen")

        let client = try RawClient(simulator)
        let markup = #"{"aps":{"alert":{"title":"Hello","body":"<img src=x onerror='window.hacked=1'>"}}}"#
        #expect(try client.exchange(push(token, markup)).status == 200)
        _ = try await device.notification()
        try await browser.wait(for: "document.querySelector('.bubble').dataset.state === 'delivered'")
        #expect(try await browser.evaluate("document.querySelector('.bubble .title').textContent") == "Hello")
        #expect(
            try await browser.evaluate("document.querySelector('.bubble .body').textContent")
                == "<img src=x onerror='window.hacked=1'>")
        #expect(try await browser.evaluate("document.querySelectorAll('.bubble img, .label b b').length") == "0")
        #expect(try await browser.evaluate("window.hacked === undefined") == "true")
        let isSeen = """
            (r => document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).closest('.bubble') !== null
              && r.width > 200 && r.height > 40)(document.querySelector('.bubble').getBoundingClientRect())
            """
        #expect(try await browser.evaluate(isSeen) == "true")
        #expect(try await browser.picture(of: ".screen") != blank)

        for number in 1...2 {
            let score = try push(token, "{\"aps\":{\"alert\":\"score \(number)\"}}", collapse: "score")
            #expect(try client.exchange(score).status == 200)
            _ = try await device.notification()
        }
        try await browser.wait(for: "document.querySelector('.bubble .body').textContent === 'score 2'")
        #expect(try await browser.evaluate("document.querySelectorAll('.bubble').length") == "2")

        device.tell(.offline)
        try await browser.wait(for: "document.querySelector('.device.off') !== null")
        #expect(try client.exchange(push(token, "{\"aps\":{\"alert\":\"later\"}}")).status == 200)
        try await browser.wait(for: "document.querySelector('.bubble.ghost .body').textContent === 'later'")
        #expect(try client.exchange(push("600d", "{}")).reason == "BadDeviceToken")
        let rows = "[...document.querySelectorAll('#answers tr')].map(r => r.textContent).join('|')"
        try await browser.wait(for: "\(rows) === '200accepted4|400BadDeviceToken1'")
        #expect(try await browser.evaluate("document.getElementById('connections').textContent") == "1")
        let row = "document.querySelector('#connection-list tr').innerText"
        try await browser.wait(for: "\(row).includes('200 \u{d7} 4, 400 \u{d7} 1')")
        let connection = try await browser.evaluate(row)
        #expect(connection.contains("127.0.0.1:\(simulator.port)"))
        #expect(connection.contains("team DEF7654321, key ABC1234567"))
        #expect(connection.contains("0 of 100 streams"))
        await device.quit()
    }

    @Test("A page opened later shows what came before, and nothing on it comes from elsewhere")
    func later() async throws {
        try await with { simulator, address in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(token, #"{"aps":{"alert":"before"}}"#)).status == 200)
            _ = try await device.notification()
            let browser = try await Browser(page: "\(address)/")
            try await browser.wait(for: "document.querySelector('.bubble .body').textContent === 'before'")
            let foreign =
                "performance.getEntriesByType('resource').filter(e => !e.name.startsWith('\(address)/')).length"
            #expect(try await browser.evaluate(foreign) == "0")
            await browser.close()
            await device.quit()
            let headers = try await get("\(address)/", ["--include"]).lowercased()
            #expect(headers.contains("content-security-policy: default-src 'none'"))
            #expect(headers.contains("x-content-type-options: nosniff"))
        }
    }

    @Test("The API tells devices, notifications, deliveries and answers as JSON")
    func api() async throws {
        try await with { simulator, address in
            #expect(try await get("\(address)/devices") == "[]\n")
            let device = try TestDevice(simulator) { $0.name = "Ada" }
            let token = try await device.token()
            let name = try #require(simulator.devices?.views(limit: 1).first?.id)
            let answer = try RawClient(simulator).exchange(push(token, #"{"n":1}"#))
            let unique = try #require(answer.headers["apns-unique-id"])
            _ = try await device.notification()
            await device.quit()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            let list = try await get("\(address)/devices")
            for part in [
                "\"id\":\"\(name)\"", "\"name\":\"Ada\"", "\"is_online\":false", "\"token\":\"\(token)\"",
                "\"topic\":\"com.example.app\"", "\"waiting\":0",
            ] { #expect(list.contains(part)) }
            let notes = try await get("\(address)/devices/\(name)/notifications")
            #expect(notes.contains("\"unique_id\":\"\(unique)\""))
            #expect(notes.contains(#""payload":"{\"n\":1}""#))
            let log = try await get("\(address)/deliveries?unique_id=\(unique)")
            #expect(log.contains(#""state":"delivered""#))
            #expect(try await get("\(address)/requests") == "[{\"count\":1,\"reason\":\"\",\"status\":200}]\n")
            #expect(try await get("\(address)/overview").contains(#""environment":"development""#))
            for path in ["/devices/none/notifications", "/deliveries", "/deliveries?unique_id=x"] {
                let missing = try await get("\(address)\(path)", ["--write-out", "%{http_code}"])
                #expect(missing.hasPrefix("{\"error\":"))
                #expect(missing.hasSuffix("404"))
            }
        }
    }

    @Test("The API tells of every open connection: where from, whose, how busy, and what it was answered")
    func connections() async throws {
        try await with { simulator, address in
            #expect(try await get("\(address)/connections") == "[]\n")
            let token = try RawClient(simulator)
            #expect(try token.exchange(push("600d0000" + String(repeating: "0", count: 56), "{}")).status == 200)
            #expect(try token.exchange(push("600d", "{}")).reason == "BadDeviceToken")
            let silent = try push("0ff00000" + String(repeating: "0", count: 56), "{}")
            try token.send(silent)
            try await waitFor { simulator.ledger.total == 3 }
            let issued = try simulator.control.issue(ProviderCertificateRequest(topics: ["com.example.app"]))
            let certificate = try RawClient(simulator, certificate: issued)
            try await waitFor { simulator.counters.connectionsOpen == 2 }
            let list = try await get("\(address)/connections")
            let parts = list.split(separator: "},{\"answers\"").map(String.init)
            try #require(parts.count == 2)
            for part in [
                #"{"count":1,"status":200},{"count":1,"status":400},{"count":1,"status":0}"#, #""number":1"#,
                #""requests":3"#, #""role":"pushes""#, #""streams":{"allowed":100,"open":1}"#, #""round_trip_ms":0"#,
                #""trust":{"key_id":"ABC1234567","kind":"token","team_id":"DEF7654321"}"#,
                "\"gateway\":\"127.0.0.1:\(simulator.port)\"", #""client":"127.0.0.1:"#, #""since":"#,
            ] { #expect(parts[0].contains(part), "\(part)") }
            #expect(parts[1].contains(#""trust":{"kind":"certificate","topics":["com.example.app"]}"#))
            #expect(parts[1].contains(#""requests":0"#))
            #expect(!token.isClosed && !certificate.isClosed)
        }
    }

    @Test("A connection that ended is not listed any more; a list of very many is cut to the newest")
    func connectionLimits() async throws {
        try await with { simulator, address in
            _ = try RawClient(simulator).exchange(push("600d", "{}"))
            try await waitFor { simulator.counters.connectionsOpen == 0 }
            #expect(try await get("\(address)/connections") == "[]\n")
        }
        let list = ConnectionList()
        for number in 1...(PageRoutes.connectionLimit + 5) {
            list.add(ConnectionRecord(ConnectionView(number: number)), number: number)
        }
        let views = list.views(limit: PageRoutes.connectionLimit)
        #expect(views.count == PageRoutes.connectionLimit)
        #expect(views.first?.number == 6)
        let record = ConnectionRecord()
        for status in 0..<(ConnectionRecord.statusLimit + 3) { record.answered(status) }
        #expect(record.view.answers.count == ConnectionRecord.statusLimit)
        #expect(record.view.requests == ConnectionRecord.statusLimit + 3)
    }

    @Test("Events come as they happen, to many at once, and a listener that leaves is forgotten")
    func events() async throws {
        try await with { simulator, address in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            let hub = try #require(simulator.devices?.events)
            // Not a pipe: curl, which may have inherited that SIGPIPE is ignored, would go on when grep has left.
            let script =
                "exec 3< <(exec curl --silent --no-buffer \(address)/events); curl=$!; "
                + "grep --max-count=1 --after-context=1 'event: notif' <&3; kill -KILL $curl"
            async let first = SimulatorBench.run("/bin/bash", ["-c", script])
            async let second = SimulatorBench.run("/bin/bash", ["-c", script])
            try await waitFor { hub.count == 2 }
            #expect(try RawClient(simulator).exchange(push(token, #"{"n":1}"#)).status == 200)
            _ = try await device.notification()
            let outputs = try await [first.output, second.output]
            for output in outputs {
                #expect(output.hasPrefix("event: notification\ndata: {"))
                #expect(output.contains("\"state\":\"received\""))
            }
            // Events for those who have left find out that nobody listens.
            try await waitFor {
                hub.beat()
                return hub.count == 0
            }
            await device.quit()
        }
    }

    @Test("No more than a limit may listen, and a slow listener loses old events only")
    func hubLimits() async throws {
        let hub = EventHub()
        #expect(!hub.hasListeners)
        var streams = (0..<EventHub.listenerLimit).compactMap { _ in hub.listen() }
        #expect(streams.count == EventHub.listenerLimit)
        #expect(hub.listen() == nil)
        for number in 0..<(EventHub.waitingLimit + 10) { hub.publish("n", number) }
        hub.close()
        var received: [String] = []
        for await event in streams[0] { received.append(String(decoding: event, as: UTF8.self)) }
        #expect(received.count == EventHub.waitingLimit)
        #expect(received.first == "event: n\ndata: 10\n\n")
        streams.removeAll()
        #expect(!hub.hasListeners)
    }
}
