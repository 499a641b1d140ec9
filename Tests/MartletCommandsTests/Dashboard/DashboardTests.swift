import EventLoop
import Foundation
import LocalStack
import PushWorker
import Synchronization
import TestSupport
import Testing
import Topology
import WorkerSettings

@testable import MartletCommands

@Suite("The dashboard", .timeLimit(.minutes(2)))
struct DashboardTests {
    private static let hostile = "<img src=x onerror='window.hacked=1'>"

    /// A fleet with one of everything.
    private static var facts: StatusFacts {
        StatusFixture.facts(reports: [
            StatusFixture.report("w-1"),
            StatusFixture.report("w-2") { $0.failures = [.init(outcome: "rejected", reason: hostile, count: 2)] },
        ]) {
            $0.queue("apns.q.dead") { $0.ready = 7 }
        }
    }

    private static func answer(_ facts: StatusFacts) -> DashboardFeed.Answer {
        DashboardFeed.Answer(
            body: facts.json(StatusDiagnosis(facts: facts).findings).bytes, isStatus: true)
    }

    /// A page that shows what the feed says.
    private func withPage(
        _ make: @escaping @Sendable () async -> DashboardFeed.Answer, _ body: (Browser) async throws -> Void
    ) async throws {
        let server = try await DashboardServer.start(
            DashboardFeed(make), at: ListenAddress(host: "127.0.0.1", port: 0))
        let browser = try await Browser(page: "http://\(server.address)/")
        let failure: (any Error)?
        do {
            try await body(browser)
            failure = nil
        } catch {
            failure = error
        }
        await browser.close()
        await server.stop()
        if let failure { throw failure }
    }

    @Test(
        "A person sees figures, findings and tables, on a narrow and a wide screen, light and dark, without an error",
        arguments: [400, 1_400], [false, true])
    func seen(width: Int, isDark: Bool) async throws {
        let answer = Self.answer(Self.facts)
        try await withPage({ answer }) { browser in
            try await browser.resize(to: width, isDark: isDark)
            try await browser.wait(for: "document.getElementById('live').textContent === 'live'")
            let text = try await browser.evaluate("document.body.innerText")
            for part in ["Accepted per second", "What needs a person", "w-1", "w-2", "apns.q.dead", "rejected"] {
                #expect(text.contains(part), "\(part) is missing in \(text)")
            }
            #expect(try await browser.evaluate("document.getElementById('dead').textContent") == "62")
            // What somebody called a reason is text, and does nothing.
            #expect(text.contains(Self.hostile))
            #expect(try await browser.evaluate("window.hacked === undefined") == "true")
            #expect(try await browser.evaluate("document.documentElement.scrollWidth <= innerWidth") == "true")
            #expect(try await browser.evaluate(Self.leastContrast) == "true", "hardly to be read")
            let back = try await browser.evaluate("getComputedStyle(document.body).backgroundColor")
            #expect(back == (isDark ? "rgb(15, 17, 21)" : "rgb(243, 244, 247)"))
            #expect(try await browser.picture(of: "#routes").count > 500)
            #expect(try await browser.errors().isEmpty)
        }
    }

    /// Whether every text stands out from its background by 4.5 at least (WCAG 2.2, 1.4.3).
    private static let leastContrast = """
        (() => {
          const light = colour => {
            const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(part => {
              part /= 255;
              return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const behind = node => {
            for (; node; node = node.parentElement) {
              const colour = getComputedStyle(node).backgroundColor;
              if (colour !== "rgba(0, 0, 0, 0)") return colour;
            }
          };
          return [...document.querySelectorAll("h1, h2, p, th, td, b, code, .chip")]
            .filter(node => node.textContent && node.getClientRects().length)
            .every(node => {
              const [one, other] = [light(getComputedStyle(node).color), light(behind(node))].sort((a, b) => b - a);
              return (one + 0.05) / (other + 0.05) >= 4.5;
            });
        })()
        """

    @Test("News is drawn by itself; a failure is told with what to do, and goes when the status is there again")
    func live() async throws {
        let answer = Mutex(Self.answer(Self.facts))
        let failure = JSON.object([("error", .text("the API is away")), ("remedy", .text("Start it."))])
        let bad = DashboardFeed.Answer(body: failure.bytes, isStatus: false)
        try await withPage({ answer.withLock { $0 } }) { browser in
            try await browser.wait(for: "document.getElementById('worker-count').textContent === '2'")
            answer.withLock { $0 = bad }
            try await browser.wait(for: "!document.getElementById('trouble').hidden")
            #expect(
                try await browser.evaluate("document.getElementById('trouble').innerText")
                    == "the API is away\nStart it.")
            answer.withLock { $0 = Self.answer(StatusFixture.facts(reports: [])) }
            try await browser.wait(for: "document.getElementById('worker-count').textContent === '0'")
            #expect(try await browser.evaluate("document.getElementById('trouble').hidden") == "true")
        }
    }

    @Test("However many ask, a status is made once in two seconds")
    func feed() async {
        let calls = Atomic(0)
        let feed = DashboardFeed {
            DashboardFeed.Answer(body: Array("\(calls.add(1, ordering: .relaxed).newValue)".utf8), isStatus: true)
        }
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let bodies = await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<50 { group.addTask { await feed.answer(now: start).body } }
            return await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(bodies == [Array("1".utf8)])
        #expect(await feed.answer(now: start + .milliseconds(1_999)).body == Array("1".utf8))
        #expect(await feed.answer(now: start + .seconds(2)).body == Array("2".utf8))
    }

    @Test(
        "It is only for this machine",
        arguments: [
            ("127.0.0.1:8088", true), ("localhost:0", true), ("[::1]:80", true), ("0.0.0.0:80", false),
            ("192.0.2.1:80", false), ("example.com:80", false), ("127.0.0.1", false), ("", false),
        ])
    func address(_ text: String, _ isGood: Bool) {
        let address = try? DashboardCommand.address(text)
        #expect((address != nil) == isGood)
    }

    @Test(
        "Only a browser that asks this machine by its own name is answered",
        arguments: [
            ("127.0.0.1:8088", true), ("localhost:8088", true), ("LOCALHOST", true), ("[::1]:8088", true),
            ("evil.example:8088", false), ("127.0.0.1.evil.example", false), ("", false),
        ])
    func name(_ authority: String, _ isGood: Bool) {
        #expect((RequestHost(authority) == .thisMachine) == isGood)
    }

    @Test("Where another program listens already, the command ends at once, and says how to choose another port")
    func busy() async throws {
        let server = try await DashboardServer.start(
            DashboardFeed { Self.answer(Self.facts) }, at: ListenAddress(host: "127.0.0.1", port: 0))
        let outcome = try Executable.run([
            "dashboard", "--listen", "\(server.address)", "--broker", "amqp://127.0.0.1:1", "--management",
            "http://u:p@127.0.0.1:1",
        ])
        await server.stop()
        #expect(outcome.status == 69 && outcome.errorText.contains("cannot listen at \(server.address)"))
        #expect(outcome.errorText.contains("--listen"), "\(outcome.errorText)")
    }

    @Test("The command serves the status of a real broker until it is asked to end")
    func command() async throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        let dashboard = try TalkingProcess(
            [
                "-c", "exec \"$0\" \"$@\" 2>&1", Executable.path, "dashboard", "--listen", "127.0.0.1:0", "--broker",
                broker.uri, "--management", broker.managementURI,
            ], of: "/bin/sh")
        let line = try dashboard.line { $0.contains("http://") }
        let url = line.split(separator: " ").first { $0.hasPrefix("http://") }.map(String.init) ?? ""
        let answer = try ChildProcess.run("/usr/bin/curl", ["--silent", "\(url)status.json"]).text
        let status = try JSON(reading: Array(answer.utf8))
        #expect(status["broker"]?["nodes"]?.elements.count == 1, "\(answer)")
        #expect(status["workers"]?.elements.isEmpty == true)
        let page = try ChildProcess.run("/usr/bin/curl", ["--silent", "--include", url]).text
        #expect(page.lowercased().contains("content-security-policy: default-src 'none'"))
        #expect(page.contains("<title>Martlet</title>") && !page.contains("page.js"))
        let foreign = ["--silent", "--include", "--header", "Host: evil.example", url]
        #expect(try ChildProcess.run("/usr/bin/curl", foreign).text.contains(" 421 "))
        dashboard.process.signal(SIGTERM)
        #expect(dashboard.process.wait(timeout: .seconds(30)) == .exited(0))
    }
}
