import Foundation
import LocalStack
import PushModel
import TestSupport
import Testing

@testable import Topology

@Suite("Management client", .timeLimit(.minutes(1)), .serialized)
struct ManagementClientTests {
    private let topology = BrokerTopology(
        routes: TopologyFixture.routes, tiers: [RetryTier(milliseconds: 2000)], virtualHost: "martlet/test 1")

    enum TopologyFixture {
        static let routes = [
            TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop"], highLane: true)
        ]
    }

    @Test("an API that does not answer is unreachable, and the message names no password")
    func unreachable() async throws {
        let client = try ManagementClient(address: SecretText("http://u:hunter2@127.0.0.1:1"))
        let error = await #expect(throws: ManagementError.self) { try await client.check(topology) }
        #expect(error?.code == .unreachable)
        #expect(error?.exitCode == 69)
        #expect(error?.message.contains("http://127.0.0.1:1 ") == true)
        #expect(error?.message.contains("hunter2") == false)
    }

    @Test("an address without a user is refused, and the message has the form to write", arguments: ["", ":secret@"])
    func nameless(_ login: String) {
        let error = #expect(throws: ManagementError.self) {
            try ManagementClient(address: SecretText("https://\(login)broker.example:15671"))
        }
        #expect(error?.code == .refused && error?.message.contains("secret") == false)
        #expect(error?.message.hasSuffix("names no user: write https://USER:PASSWORD@broker.example:15671") == true)
    }

    @Test("an address without a password is refused, and the message says whose is missing")
    func passwordless() {
        let error = #expect(throws: ManagementError.self) {
            try ManagementClient(address: SecretText("https://me@broker.example:15671"))
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("no password of me: write https://USER:PASSWORD@broker.example:15671") == true)
    }

    /// An answer to a request for queues, and parts of the error for it.
    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: Int
        var body = ""
        var target: String?
        var code = ManagementError.Code.unexpectedAnswer
        var parts: [String]
    }

    static let answers: [Answer] = [
        Answer(
            testDescription: "a path without its prefix", status: 404,
            parts: ["not by RabbitMQ", "path prefix", "http://USER:PASSWORD@mq.example:15672/PREFIX"]),
        Answer(
            testDescription: "a proxy's page", status: 404, body: "<html>{}</html>", parts: ["path prefix"]),
        Answer(
            testDescription: "a virtual host that is not there", status: 404,
            body: #"{"error":"Object Not Found","reason":"Not Found"}"#, code: .missingVirtualHost,
            parts: ["does the virtual host exist", "add_vhost"]),
        Answer(
            testDescription: "a redirection to TLS and a prefix", status: 301,
            target: "https://u:secret@mq.example:8443/rabbit/api/queues/%2F?x=1",
            parts: [
                "answered 301", "points to https://mq.example:8443/rabbit/api/queues/%2F.",
                "Write https://USER:PASSWORD@mq.example:8443/rabbit",
            ]),
        Answer(
            testDescription: "a redirection to a login", status: 302, target: "/login",
            parts: ["points to http://mq.example:15672/login. Write the address of RabbitMQ's management API itself"]),
        Answer(testDescription: "a redirection to nowhere", status: 307, parts: ["without a target"]),
        Answer(
            testDescription: "another refusal", status: 400, body: #"{"error":"bad_request","reason":"not so"}"#,
            parts: ["answered 400: not so"]),
    ]

    @Test("an answer that is not RabbitMQ's, and one that points elsewhere, say what to write", arguments: answers)
    func answer(_ row: Answer) throws {
        let connection = try ManagementConnection(address: "http://me:hunter2@mq.example:15672", timeout: 1)
        let error = connection.failure(row.status, Data(row.body.utf8), row.target, .get, "queues/%2F")
        #expect(error.code == row.code)
        for part in row.parts { #expect(error.message.contains(part), "\(error.message)") }
        #expect(!error.message.contains("secret") && !error.message.contains("hunter2"))
    }

    /// A proxy that decodes paths, and joins slashes if it is told to.
    private static let proxy = """
        import http.client, http.server, re, sys, urllib.parse
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = urllib.parse.unquote(self.path)
                if sys.argv[3] == "join": path = re.sub("/+", "/", path)
                link = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
                link.request("GET", path, headers={"Authorization": self.headers["Authorization"]})
                answer = link.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """

    @Test("a proxy that decodes paths is told apart from a missing virtual host", arguments: ["join", "keep"])
    func decodingProxy(_ slashes: String) async throws {
        let broker = try Self.broker.get()
        let raw = try ManagementConnection(address: broker.managementURI, timeout: 10)
        for host in ["a/b", "queues"] {
            _ = try await raw.send(.put, ["vhosts", host], body: "{}")
            _ = try await raw.send(
                .put, ["permissions", host, "guest"], body: #"{"configure":".*","write":".*","read":".*"}"#)
        }
        _ = try await raw.send(.put, ["queues", "queues", "q"], body: "{}")
        let port = try FreePort.next()
        let proxy = try ChildProcess.start(
            "/usr/bin/python3", ["-c", Self.proxy, "\(port)", "\(broker.managementPort)", slashes])
        defer { proxy.terminate(grace: .zero) }
        try proxy.awaitListening(on: port)
        let client = try ManagementClient(address: SecretText("http://guest:guest@127.0.0.1:\(port)"))
        for host in ["/", "a/b"] {
            let error = await #expect(throws: ManagementError.self) { try await client.activity(virtualHost: host) }
            #expect(error?.code == .unexpectedAnswer, "\(host)")
            #expect(error?.message.contains("decodes %2F") == true, "\(host): \(error?.message ?? "")")
        }
        let error = await #expect(throws: ManagementError.self) { try await client.activity(virtualHost: "no/where") }
        #expect(error?.code == .missingVirtualHost, "\(error?.message ?? "")")
        for host in ["a/b", "queues"] { _ = try await raw.send(.delete, ["vhosts", host]) }
    }

    /// An API that is never silent for long, and never done.
    private static let dripping = """
        import http.server, select, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                # Another byte each 20 ms, until the client leaves.
                while not select.select([self.connection], [], [], 0.02)[0]:
                    self.wfile.write(b" ")
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
        """

    @Test("an API whose answer never ends is left after a few times the longest silence")
    func drips() async throws {
        let port = try FreePort.next()
        let server = try ChildProcess.start("/usr/bin/python3", ["-c", Self.dripping, "\(port)"])
        defer { server.terminate(grace: .zero) }
        try server.awaitListening(on: port)
        let connection = try ManagementConnection(address: "http://me:hunter2@127.0.0.1:\(port)", timeout: 1)
        let error = await #expect(throws: ManagementError.self) { try await connection.send(.get, ["overview"]) }
        #expect(error?.message.contains("no whole answer within 4 s") == true, "\(error?.message ?? "")")
    }

    /// A broker whose management API these tests use; it ends with the process.
    private static let broker = Result<PrivateBroker, any Error> {
        try PrivateBroker.start(PrivateBrokerOptions(management: true))
    }

    @Test("a wrong password and a missing virtual host are refused with a remedy")
    func refused() async throws {
        let address = try Self.broker.get().managementURI
        let wrong = address.replacingOccurrences(of: "guest:guest", with: "guest:hunter2")
        let client = try ManagementClient(address: SecretText(wrong))
        let error = await #expect(throws: ManagementError.self) { try await client.check(topology) }
        #expect(error?.exitCode == 77, "\(error?.message ?? "")")
        #expect(error?.message.contains("hunter2") == false)
        let nowhere = BrokerTopology(routes: [], tiers: [], virtualHost: "nowhere")
        let right = try ManagementClient(address: SecretText(address))
        let missing = await #expect(throws: ManagementError.self) { try await right.check(nowhere) }
        #expect(missing?.code == .missingVirtualHost)
    }

    @Test("copies that came to a tier under another policy are led back once that policy is gone, and none is lost")
    func keptCopies() async throws {
        let broker = try Self.broker.get()
        let raw = try ManagementConnection(address: broker.managementURI, timeout: 10)
        let host = "kept"
        let topology = BrokerTopology(
            routes: TopologyFixture.routes, tiers: [RetryTier(milliseconds: 2000)], virtualHost: host)
        _ = try await raw.send(.put, ["vhosts", host], body: "{}")
        _ = try await raw.send(
            .put, ["permissions", host, "guest"], body: #"{"configure":".*","write":".*","read":".*"}"#)
        let client = try ManagementClient(address: SecretText(broker.managementURI))
        #expect(try await client.apply(topology).remaining == [])
        let (tier, own) = ("apns.q.retry.2s", ["policies", host, "apns.q.retry.2s"])
        let others = ["policies", host, "others"]
        for isOwnThere in [false, true] {
            if !isOwnThere { _ = try await raw.send(.delete, own) }
            _ = try await raw.send(
                .put, others,
                body: #"{"pattern":"^apns\\.q\\.retry","apply-to":"queues","priority":99,"#
                    + #""definition":{"max-length":99}}"#)
            for _ in 0..<30 {
                _ = try await raw.send(
                    .post, ["exchanges", host, "apns.retry.2s", "publish"],
                    body: #"{"properties":{},"routing_key":"production.normal.com.example.shop","payload":"x","#
                        + #""payload_encoding":"string"}"#)
            }
            // RabbitMQ's statistics are late, so this is done at every stage of them.
            #expect(try await client.apply(topology).remaining.isEmpty == false)
            #expect(try broker.queueCounts(virtualHost: host)[tier]?.total == 30)
            _ = try await raw.send(.delete, others)
            #expect(try await client.apply(topology).remaining == [])
            // The queue writes letters at its own pace.
            var back = 0
            for _ in 0..<1_000 where back < (isOwnThere ? 60 : 30) {
                back = try broker.queueCounts(virtualHost: host)["apns.q.jobs.shop.return"]?.total ?? 0
            }
            #expect(back == (isOwnThere ? 60 : 30))
            #expect(try broker.queueCounts(virtualHost: host)[tier]?.total == 0)
        }
        _ = try await raw.send(.delete, ["vhosts", host])
    }

    @Test("applying mends an empty host, then a drifted one, and removes what is stale")
    func apply() async throws {
        let address = try Self.broker.get().managementURI
        let raw = try ManagementConnection(address: address, timeout: 10)
        let host = topology.virtualHost
        _ = try? await raw.send(.delete, ["vhosts", host])
        _ = try await raw.send(.put, ["vhosts", host], body: "{}")
        _ = try await raw.send(
            .put, ["permissions", host, "guest"], body: #"{"configure":".*","write":".*","read":".*"}"#)
        let client = try ManagementClient(address: SecretText(address))

        let first = try await client.apply(topology)
        #expect(
            first.mended.count == topology.exchanges.count + topology.queues.count + topology.bindings.count
                + topology.policies.count)
        #expect(first.remaining == [])
        #expect(try await client.check(topology) == [])

        // Drift: a policy changed, a binding gone, a route of yesterday, and a classic queue in place of a quorum one.
        _ = try await raw.send(
            .put, ["policies", host, "apns.q.jobs.*"],
            body: #"{"pattern":"^apns\\.q\\.jobs","apply-to":"queues","priority":10,"definition":{"max-length":5}}"#
        )
        _ = try await raw.send(.delete, ["bindings", host, "e", "apns.results", "q", "apns.q.results", "%23"])
        _ = try await raw.send(.delete, ["queues", host, "apns.q.dead.tokens"])
        _ = try await raw.send(
            .put, ["queues", host, "apns.q.dead.tokens"], body: #"{"durable":true,"arguments":{"x-max-length":5}}"#)
        _ = try await raw.send(
            .put, ["queues", host, "apns.q.jobs.old"], body: #"{"durable":true,"arguments":{"x-queue-type":"quorum"}}"#)
        for key in ["production.high.com.example.old", "#", "a b~c%é"] {
            _ = try await raw.send(
                .post, ["bindings", host, "e", "apns.jobs", "q", "apns.q.jobs.old"],
                body: #"{"routing_key":"\#(key)","arguments":{}}"#)
        }
        let rows = try await client.check(topology).map { "\($0.kind.rawValue) \($0.object)" }
        #expect(
            rows.sorted() == [
                "different policy apns.q.jobs.*", "different queue apns.q.dead.tokens",
                "missing binding apns.dead -> apns.q.dead.tokens by dead_token.#",
                "missing binding apns.results -> apns.q.results by #",
                "stale binding apns.jobs -> apns.q.jobs.old by #",
                "stale binding apns.jobs -> apns.q.jobs.old by a b~c%é",
                "stale binding apns.jobs -> apns.q.jobs.old by production.high.com.example.old",
                "stale queue apns.q.jobs.old",
            ])
        // What was asked about goes. What has become stale since then stays.
        let asked = try await client.live(virtualHost: host).bindings.filter { $0.routingKey == "a b~c%é" }
        #expect(asked.count == 1)
        let approved = try await client.apply(topology, prunes: true, removing: asked)
        #expect(approved.mended.contains { $0.object.hasSuffix("a b~c%é") } && approved.mended.count == 4)
        #expect(approved.remaining.count { $0.kind == .stale && $0.object.hasPrefix("binding ") } == 2)
        let second = try await client.apply(topology, prunes: true)
        #expect(second.mended.count == 2)
        #expect(
            second.remaining.map { "\($0.kind.rawValue) \($0.object)" } == [
                "different queue apns.q.dead.tokens", "stale queue apns.q.jobs.old",
            ])
        _ = try await raw.send(.delete, ["vhosts", host])
    }
}
