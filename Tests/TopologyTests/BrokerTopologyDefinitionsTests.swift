import Foundation
import PushModel
import Testing
import Topology

@Suite("Definitions file", .timeLimit(.minutes(1)))
struct BrokerTopologyDefinitionsTests {
    private func parsed(_ text: String) throws -> [String: [[String: Any]]] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(object as? [String: [[String: Any]]])
    }

    @Test("the text is JSON with one entry per object, the same bytes each time")
    func shape() throws {
        let topology = BrokerTopologyTests.topology
        let text = topology.definitions()
        #expect(
            text
                == BrokerTopology(routes: BrokerTopologyTests.routes, tiers: BrokerTopologyTests.tiers).definitions()
        )
        let definitions = try parsed(text)
        #expect(definitions.keys.sorted() == ["bindings", "exchanges", "policies", "queues", "vhosts"])
        #expect(definitions["exchanges"]?.count == topology.exchanges.count)
        #expect(definitions["queues"]?.count == topology.queues.count)
        #expect(definitions["bindings"]?.count == topology.bindings.count)
        #expect(definitions["policies"]?.count == topology.policies.count)
        #expect(text.hasSuffix("\n}\n"))
    }

    @Test("queues are declared quorum and nothing else, but the two streams; what can be tuned is in policies")
    func arguments() throws {
        let definitions = try parsed(BrokerTopologyTests.topology.definitions())
        for queue in try #require(definitions["queues"]) {
            let name = queue["name"] as? String
            let kind = name == "apns.q.fleet" || name == "apns.q.control" ? "stream" : "quorum"
            #expect(queue["arguments"] as? [String: String] == ["x-queue-type": kind])
            #expect(queue["durable"] as? Bool == true)
        }
        let policy = definitions["policies"]?.first { $0["name"] as? String == "apns.q.retry.1m" }
        #expect(policy?["pattern"] as? String == "^apns\\.q\\.retry\\.1m$")
        #expect(policy?["apply-to"] as? String == "queues")
        #expect((policy?["definition"] as? [String: Any])?["message-ttl"] as? Int == 60_000)
    }

    @Test("a virtual host of any name goes into every entry")
    func virtualHost() throws {
        let topology = BrokerTopology(routes: BrokerTopologyTests.routes, tiers: [], virtualHost: "push \"a\"\\b\u{1}")
        let definitions = try parsed(topology.definitions())
        #expect(definitions["vhosts"]?.first?["name"] as? String == "push \"a\"\\b\u{1}")
        #expect(definitions["bindings"]?.allSatisfy { $0["vhost"] as? String == "push \"a\"\\b\u{1}" } == true)
    }

    @Test("users come with a hash and the permissions of their role")
    func users() throws {
        let users = BrokerRole.allCases.map { BrokerUser(name: $0.userName, role: $0, passwordHash: "c2FsdA==") }
        let definitions = try parsed(BrokerTopologyTests.topology.definitions(users: users))
        #expect(definitions["users"]?.count == 6)
        #expect(
            definitions["users"]?.allSatisfy {
                $0["hashing_algorithm"] as? String == "rabbit_password_hashing_sha256"
            } == true)
        let worker = definitions["permissions"]?.first { $0["user"] as? String == "apns-worker" }
        #expect(worker?["configure"] as? String == "^$")
        #expect(worker?["write"] as? String == "^(amq\\.default|apns\\.(results|dead|replies|fleet|retry\\..+))$")
        #expect(worker?["read"] as? String == "^apns\\.q\\.(jobs\\..+|fleet|control|dead\\.broker)$")
        let tags = definitions["users"]?.map { $0["tags"] as? String }
        #expect(tags == ["", "", "monitoring", "", "monitoring", "policymaker"])
    }

    @Test("a role may do its work and no more", arguments: permissions)
    func roles(_ role: BrokerRole, _ user: String, _ may: [String], _ mayNot: [String]) throws {
        let permissions = role.permissions(user: user)
        func allows(_ request: String) throws -> Bool {
            let words = request.split(separator: " ").map(String.init)
            let pattern = ["configure": permissions.configure, "write": permissions.write, "read": permissions.read]
            return try #require(pattern[words[0]]).isMatch(for: words[1])
        }
        for request in may { #expect(try allows(request), "\(role) should \(request)") }
        for request in mayNot { #expect(try !allows(request), "\(role) should not \(request)") }
    }

    static let permissions: [(BrokerRole, String, [String], [String])] = [
        (
            .producer, "shop.eu",
            [
                "write apns.jobs", "configure apns.q.reply.shop.eu.1", "read apns.q.reply.shop.eu.1",
                "write apns.q.reply.shop.eu.1", "read apns.replies",
            ],
            [
                "write apns.results", "read apns.q.jobs.shop", "configure apns.jobs", "read apns.q.reply.other.1",
                "configure apns.q.reply.shopxeu.1", "write apns.jobs.unrouted", "write amq.default",
            ]
        ),
        (
            .producer, "shop", ["configure apns.q.reply.shop.1"],
            ["configure apns.q.reply.shop.eu.1", "read apns.q.reply.shop.eu.1", "write apns.q.reply.shop.eu.1"]
        ),
        (
            .worker, "w",
            [
                "read apns.q.jobs.shop", "read apns.q.jobs.unrouted", "write apns.results", "write apns.dead",
                "write apns.replies", "write apns.retry.15s", "write apns.retry.hold.6h", "write amq.default",
                "read apns.q.control",
                "read apns.q.dead.broker",
            ],
            [
                "write apns.jobs", "write apns.control", "write apns.q.control", "configure apns.q.jobs.shop",
                "read apns.q.dead", "write amq.direct",
            ]
        ),
        (
            .monitor, "m",
            [
                "read apns.q.results", "read apns.q.results.unclaimed", "read apns.results", "read apns.dead",
                "configure apns.q.tap.x", "write apns.q.tap.x", "read apns.q.tap.x", "read apns.q.control",
            ],
            [
                "write apns.control", "write apns.results", "read apns.q.dead", "read apns.q.jobs.shop",
                "configure apns.results", "read apns.q.dead.broker",
            ]
        ),
        (
            .replayer, "r", ["read apns.q.dead", "read apns.q.dead.tokens", "write apns.jobs"],
            ["configure apns.q.dead", "read apns.q.results", "write apns.dead", "read apns.q.dead.broker"]
        ),
        (
            .operator, "o",
            ["write apns.control", "read apns.q.control", "read apns.q.fleet", "write apns.q.jobs.shop"],
            [
                "configure apns.control", "configure apns.q.control", "write apns.q.control", "write apns.jobs",
                "write amq.default", "read apns.q.jobs.shop", "read apns.q.dead", "read apns.q.results",
                "read apns.control",
            ]
        ),
        (
            .topology, "t", ["configure apns.jobs", "write apns.q.dead", "read apns.jobs"],
            ["configure amq.topic", "read other"]
        ),
    ]

    @Test("the password hash is the salt and the digest in Base64")
    func passwordHash() {
        var seen: [UInt8] = []
        let hash = BrokerUser.rabbitPasswordHash(salt: [0x90, 0x8d, 0xc6, 0x0a], password: Array("test12".utf8)) {
            seen = $0
            return (0..<32).map { UInt8($0) }
        }
        #expect(seen == [0x90, 0x8d, 0xc6, 0x0a] + Array("test12".utf8))
        #expect(hash == "kI3GCgABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f")
        let lengths = (0...4).map { count in
            BrokerUser.rabbitPasswordHash(salt: [], password: []) { _ in [UInt8](repeating: 255, count: count) }
        }
        #expect(lengths == ["", "/w==", "//8=", "////", "/////w=="])
    }
}

extension String {
    /// Whether this regular expression matches somewhere in a text.
    fileprivate func isMatch(for text: String) throws -> Bool {
        try text.contains(Regex(self))
    }
}
