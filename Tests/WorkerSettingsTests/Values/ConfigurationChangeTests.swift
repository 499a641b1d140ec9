import Foundation
import Logging
import PushModel
import TestSupport
import Testing

@testable import WorkerSettings

@Suite("What a running worker follows", .timeLimit(.minutes(1)))
struct ConfigurationChangeTests {
    private typealias Edit = @Sendable (inout WorkerConfiguration) -> Void

    /// A change of each setting, with its key; entries of lists apart.
    private static let edits: [(key: String, edit: Edit)] = [
        ("instance", { $0.instance = "other" }),
        ("broker.uri", { $0.broker.uris = [SecretText("amqp://user:SECRET@localhost/")] }),
        ("broker.password_file", { $0.broker.passwordFile = "other" }),
        ("broker.allow_plaintext", { $0.broker.allowsPlaintext = true }),
        ("broker.management", { $0.broker.management = SecretText("http://user:SECRET@localhost:15672") }),
        ("broker.heartbeat", { $0.broker.heartbeat = .seconds(7) }),
        ("broker.tls.ca_file", { $0.broker.tls.caFile = "other" }),
        ("broker.tls.cert_file", { $0.broker.tls.certFile = "other" }),
        ("broker.tls.key_file", { $0.broker.tls.keyFile = "other" }),
        ("apns.production", { $0.apns.production = "https://other:443" }),
        ("apns.development", { $0.apns.development = "https://other:443" }),
        ("apns.trust_file", { $0.apns.trustFile = "other" }),
        ("apns.request_timeout", { $0.apns.requestTimeout = .seconds(7) }),
        ("apns.ping_interval", { $0.apns.pingInterval = .seconds(7) }),
        ("apns.idle", { $0.apns.idle = .seconds(70) }),
        ("apns.connect_rate", { $0.apns.connectRate = 1 }),
        ("apns.connect_burst", { $0.apns.connectBurst = 1 }),
        ("apns.proxy", { $0.apns.proxy = ProxyConfiguration(address: SecretText("http://u:SECRET@p:1")) }),
        ("apns.broadcast.production", { $0.apns.broadcast.production = "https://other:443" }),
        ("apns.broadcast.development", { $0.apns.broadcast.development = "https://other:443" }),
        ("apns.channels.production", { $0.apns.broadcastChannels.production = "https://other:443" }),
        ("apns.channels.development", { $0.apns.broadcastChannels.development = "https://other:443" }),
        ("share", { $0.share = .automatic }),
        ("prefetch", { $0.prefetch = .fixed(7) }),
        ("memory.jobs", { $0.jobMemory = 1 << 30 }),
        ("retry.tiers", { $0.retry.tiers = [.seconds(7)] }),
        ("retry.holding_tiers", { $0.retry.holdingTiers = [.seconds(7)] }),
        ("retry.holding_limit", { $0.retry.holdingLimit = 1 << 30 }),
        ("retry.max_attempts", { $0.retry.maxAttempts = 7 }),
        ("retry.max_age", { $0.retry.maxAge = .seconds(7) }),
        ("results.batch", { $0.results.batch = 7 }),
        ("results.device_token", { $0.results.deviceToken = .omit }),
        ("results.queues", { $0.results.queues = 7 }),
        ("jobs.from", { $0.jobsFrom = ["other"] }),
        ("replies.allow", { $0.repliesAllow = "other" }),
        ("journal", { $0.journal = "other" }),
        ("admin.listen", { $0.adminListen = nil }),
        ("admin.token_file", { $0.adminTokenFile = "other" }),
        ("metrics.detail", { $0.metricsDetail = true }),
        ("tracing.endpoint", { $0.tracing.endpoint = "http://collector:4318" }),
        ("tracing.service_name", { $0.tracing.serviceName = "pushes" }),
        ("log.level", { $0.log.level = .debug }),
        ("log.format", { $0.log.format = .json }),
        ("shutdown.grace", { $0.shutdownGrace = .seconds(7) }),
    ]
    /// The keys among them that need no restart.
    private static let followed: Set = ["broker.management", "retry.holding_limit", "log.level", "shutdown.grace"]

    /// A configuration with two routes.
    private static func configuration() throws -> WorkerConfiguration {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        return try fixture.load(
            minimalConfiguration
                + "  - { name: s, environment: production, topics: [com.example.other], credential: k }\n"
        ).get()
    }

    private static func credential(_ name: String) -> CredentialConfiguration {
        .token(TokenCredentialConfiguration(name: name, keyFile: "other", keyID: "K", teamID: "T"))
    }

    private static func change(_ edit: Edit) throws -> ConfigurationChange {
        let old = try configuration()
        var new = old
        edit(&new)
        return ConfigurationChange(from: old, to: new)
    }

    @Test("The same configuration again is not a change")
    func same() throws {
        let change = try Self.change { _ in }
        #expect(change.followed.isEmpty && change.restart.isEmpty)
    }

    @Test("Each setting is either followed or named as one that needs a restart")
    func settings() throws {
        for (key, edit) in Self.edits {
            let change = try Self.change(edit)
            #expect(change.followed == (Self.followed.contains(key) ? [key] : []), "\(key)")
            #expect(change.restart == (Self.followed.contains(key) ? [] : [key]), "\(key)")
        }
        #expect(Self.edits.map(\.key) == WorkerKeys.present.filter { $0.records == nil }.map(\.path))
    }

    @Test("The worker goes on with what it follows, and with the rest as it was")
    func running() throws {
        let old = try Self.configuration()
        let change = try Self.change { configuration in
            for (_, edit) in Self.edits { edit(&configuration) }
        }
        #expect(change.running.log.level == .debug && change.running.log.format == old.log.format)
        #expect(change.running.shutdownGrace == .seconds(7))
        #expect(change.running.prefetch == old.prefetch && change.running.broker.uris == old.broker.uris)
        let again = ConfigurationChange(from: change.running, to: old)
        #expect(again.restart.isEmpty, "what is taken back needs no restart any more")
    }

    @Test("Addresses in a file of their own are read for each connection anyway")
    func addressFile() throws {
        var old = try Self.configuration()
        old.broker.uriFile = "uri"
        var new = old
        new.broker.uris = [SecretText("amqp://localhost/other")]
        #expect(ConfigurationChange(from: old, to: new).restart.isEmpty)
        new.broker.uriFile = "other"
        #expect(ConfigurationChange(from: old, to: new).restart == ["broker.uri"])
    }

    @Test("Routes that come, go, change or get another rate are followed, and named")
    func routes() throws {
        let faster = try Self.change { $0.routes[1].rate = 5 }
        #expect(faster.followed == ["routes[s].rate"] && faster.restart.isEmpty)
        #expect(faster.running.routes[1].rate == 5)
        let copied = try Self.change { $0.routes[0].resultsQueue = "apns.q.results.r" }
        #expect(copied.followed == ["routes[r].results_queue"] && copied.restart.isEmpty)
        let changed = try Self.change {
            $0.routes[0].topics.append("com.example.more")
            $0.routes[0].rate = 5
        }
        #expect(changed.followed == ["routes[r] (changed)"] && changed.restart.isEmpty)
        let removed = try Self.change { $0.routes.removeFirst() }
        #expect(removed.followed == ["routes[r] (removed)"] && removed.running.routes.map(\.name) == ["s"])
        let added = try Self.change { configuration in
            var route = configuration.routes[0]
            route.name = "t"
            configuration.routes.insert(route, at: 0)
        }
        #expect(added.followed == ["routes[t] (added)"] && added.running.routes.map(\.name) == ["t", "r", "s"])
        let moved = try Self.change { $0.routes.reverse() }
        #expect(moved.followed.isEmpty && moved.restart.isEmpty)
    }

    @Test("Credentials that come, go or are configured otherwise are followed, and named")
    func credentials() throws {
        let changed = try Self.change { $0.credentials = [Self.credential("k")] }
        #expect(changed.followed == ["credentials[k] (changed)"] && changed.restart.isEmpty)
        #expect(changed.running.credentials.flatMap(\.files) == ["other"])
        let others = try Self.change { $0.credentials = [Self.credential("l")] }
        #expect(others.followed == ["credentials[l] (added)", "credentials[k] (removed)"] && others.restart.isEmpty)
    }

    @Test("Operating lists the keys that a worker follows, and no other")
    func page() throws {
        let rows = try Page(documentation: "Operating").rows("what changed", in: "Reload")
        var followed: [String] = []
        for (key, edit) in Self.edits {
            let change = try Self.change(edit)
            if !change.followed.isEmpty { followed.append(key) }
        }
        let route = try Self.change {
            $0.routes[0].rate = 5
            $0.routes[0].resultsQueue = "apns.q.results.r"
        }
        followed += route.followed.map { $0.replacing("[r]", with: "[]") }
        // Credentials are followed as a whole.
        let listed = rows.flatMap { Page.quoted($0[0]) }
        #expect(listed.sorted() == (followed + ["credentials"]).sorted())
        #expect(rows.last == ["everything else", "needs a restart"])

        let others = try Self.change {
            $0.routes[0].name = "t"
            $0.credentials = [Self.credential("l")]
        }
        #expect(others.restart.isEmpty)
        let words = others.followed.compactMap { $0.split(separator: " ").last?.trimmingCharacters(in: ["(", ")"]) }
        #expect(Set(words) == ["added", "removed"])
        for word in Set(words) { #expect(rows.contains { $0[0] == "a route is \(word)" }) }
        #expect(rows.contains { $0[0] == "a credential is added or removed" && $0[1] == "followed" })
    }
}
