import BrokerClient
import Foundation
import LocalStack
import MartletCommands
import PushModel
import PushWorker
import RabbitMQ
import Testing
import Topology

@Suite("What each role may do at the broker, and what it may not", .serialized, .ownThread, .timeLimit(.minutes(5)))
struct RoleTests {
    /// Something that a client may try at a broker.
    enum Deed: Sendable, CustomStringConvertible {
        case publish(String, key: String)
        case consume(String)
        case declare(String)
        case bind(String, to: String, key: String)

        var description: String {
            switch self {
            case .publish(let exchange, let key):
                "publish to \(exchange.isEmpty ? "the default exchange" : exchange), \(key)"
            case .consume(let queue): "consume \(queue)"
            case .declare(let queue): "declare \(queue)"
            case .bind(let queue, let exchange, let key): "bind \(queue) to \(exchange), \(key)"
            }
        }
    }

    private static let virtualHost = "roles"
    private static let job = "development.normal.com.example.app"
    private static let ownReply = "apns.q.reply.apns-producer.1"
    private static let foreignReply = "apns.q.reply.shop.1"
    private static let tap = "apns.q.tap.1"

    /// What a role may do, and what it must be refused.
    struct Rights: Sendable, CustomTestStringConvertible {
        var role: BrokerRole
        var testDescription: String { role.rawValue }
        var may: [Deed]
        var mustNot: [Deed]
    }

    static let table: [Rights] = [
        Rights(
            role: .producer,
            may: [
                .publish("apns.jobs", key: job), .declare(ownReply), .bind(ownReply, to: "apns.replies", key: ownReply),
            ],
            mustNot: [
                .publish("apns.results", key: "accepted.development.com.example.app"),
                .publish("apns.dead", key: "invalid.-.-"), .publish("apns.replies", key: foreignReply),
                .publish("apns.retry.2s", key: job), .publish("apns.jobs.unrouted", key: job),
                .publish("apns.fleet", key: ""), .consume("apns.q.fleet"),
                .publish("apns.control", key: ""), .consume("apns.q.control"),
                .publish("apns.results.unclaimed", key: job), .publish("", key: foreignReply),
                .publish("", key: "apns.q.jobs.app"), .publish("amq.topic", key: job),
                .consume("apns.q.jobs.app"), .consume("apns.q.jobs.unrouted"), .consume("apns.q.results"),
                .consume("apns.q.dead"), .consume("apns.q.dead.tokens"), .consume("apns.q.retry.2s"),
                .consume(foreignReply), .declare(foreignReply), .declare(tap), .declare("apns.q.jobs.mine"),
                .declare("mine"), .bind(ownReply, to: "apns.results", key: "#"),
                .bind(ownReply, to: "apns.jobs", key: "#"),
                .bind(ownReply, to: "apns.dead", key: "#"), .bind("apns.q.jobs.app", to: "apns.jobs", key: "#"),
            ]),
        Rights(
            role: .worker,
            may: [
                .consume("apns.q.jobs.app"), .consume("apns.q.jobs.unrouted"), .publish("apns.retry.2s", key: job),
                .publish("apns.results", key: "accepted.development.com.example.app"),
                .publish("apns.dead", key: "invalid.-.-"), .publish("apns.replies", key: ownReply),
                .publish("", key: ownReply), .publish("apns.fleet", key: ""), .consume("apns.q.fleet"),
                .consume("apns.q.control"), .consume("apns.q.dead.broker"),
            ],
            mustNot: [
                .publish("apns.jobs", key: job), .publish("apns.jobs.unrouted", key: job),
                .declare("apns.q.fleet"), .declare("apns.q.control"), .publish("apns.control", key: ""),
                .publish("amq.direct", key: job), .consume("apns.q.results"),
                .consume("apns.q.dead"), .consume("apns.q.retry.2s"), .consume(foreignReply),
                .declare("apns.q.jobs.app"), .declare("apns.q.jobs.new"), .declare(ownReply), .declare("mine"),
                .bind("apns.q.jobs.app", to: "apns.jobs", key: "#"),
            ]),
        Rights(
            role: .monitor,
            may: [
                .consume("apns.q.results"), .consume("apns.q.fleet"), .consume("apns.q.control"), .declare(tap),
                .bind(tap, to: "apns.results", key: "#"),
            ],
            mustNot: [
                .publish("apns.fleet", key: ""), .publish("apns.control", key: ""),
                .publish("apns.jobs", key: job), .publish("apns.results", key: "accepted.development.com.example.app"),
                .publish("apns.dead", key: "invalid.-.-"), .publish("apns.replies", key: ownReply),
                .publish("apns.retry.2s", key: job), .publish("", key: "apns.q.results"),
                .consume("apns.q.jobs.app"), .consume("apns.q.dead"), .consume("apns.q.retry.2s"),
                .consume(foreignReply), .bind(tap, to: "apns.jobs", key: "#"), .bind(tap, to: "apns.replies", key: "x"),
                .bind("apns.q.results", to: "apns.results", key: "x"), .declare(foreignReply),
                .declare("apns.q.results.2"),
            ]),
        Rights(
            role: .replayer,
            may: [.consume("apns.q.dead"), .consume("apns.q.dead.tokens"), .publish("apns.jobs", key: job)],
            mustNot: [
                .publish("apns.results", key: "accepted.development.com.example.app"),
                .publish("apns.dead", key: "invalid.-.-"), .publish("apns.replies", key: foreignReply),
                .publish("apns.retry.2s", key: job), .publish("", key: "apns.q.jobs.app"),
                .publish("apns.control", key: ""), .consume("apns.q.control"),
                .consume("apns.q.jobs.app"), .consume("apns.q.results"), .consume(foreignReply),
                .declare("apns.q.dead.2"), .declare(ownReply), .bind("apns.q.dead", to: "apns.dead", key: "x"),
            ]),
        Rights(
            role: .operator,
            may: [.publish("apns.control", key: ""), .consume("apns.q.control"), .consume("apns.q.fleet")],
            mustNot: [
                .publish("apns.jobs", key: job), .publish("apns.fleet", key: ""),
                .publish("apns.results", key: "accepted.development.com.example.app"),
                .publish("apns.dead", key: "invalid.-.-"), .publish("apns.replies", key: foreignReply),
                .publish("apns.retry.2s", key: job), .publish("", key: "apns.q.control"),
                .consume("apns.q.jobs.app"), .consume("apns.q.results"), .consume("apns.q.dead"),
                .consume(foreignReply), .declare("apns.q.control"), .declare(tap), .declare(ownReply),
                .bind("apns.q.dead", to: "apns.control", key: ""),
                .bind("apns.q.jobs.app", to: "apns.results", key: "#"),
                .bind("apns.q.jobs.app", to: "apns.jobs", key: "#"),
            ]),
        Rights(
            role: .topology,
            may: [.declare("apns.q.tap.topology"), .bind("apns.q.tap.topology", to: "apns.results", key: "#")],
            mustNot: [.declare("mine"), .publish("", key: "apns.q.jobs.app"), .publish("amq.topic", key: job)]),
    ]

    @Test("each role can do its work and is refused everything else that was tried", arguments: table)
    func rights(_ rights: Rights) throws {
        let (broker, accounts) = try Self.users.get()
        let account = try #require(accounts[rights.role])
        for deed in rights.may {
            #expect(try refusal(of: deed, by: account, at: broker) == nil, "\(rights.role) must be able to \(deed)")
        }
        for deed in rights.mustNot {
            let error = try refusal(of: deed, by: account, at: broker)
            #expect(error?.replyCode == 403, "\(rights.role) must not be able to \(deed): \(error as Any)")
            if case .publish("", _) = deed {
                // By this name a worker tells that replies to queues are not for it.
                #expect(error?.message.contains("amq.default") == true, "\(error as Any)")
            }
        }
    }

    @Test("a producer with topic permissions does not reach another app's topic, environment or class")
    func topics() throws {
        let (broker, accounts) = try Self.users.get()
        let account = try #require(accounts[.producer])
        try broker.control([
            "set_topic_permissions", "-p", Self.virtualHost, account.user.name, "apns.jobs",
            #"^development\.normal\.com\.example\.app(\..+)?$"#, "^$",
        ])
        defer { _ = try? broker.control(["clear_topic_permissions", "-p", Self.virtualHost, account.user.name]) }
        for (key, isAllowed) in [
            (Self.job, true), ("development.normal.com.example.app.voip", true),
            ("production.normal.com.example.app", false), ("development.high.com.example.app", false),
            ("development.normal.com.example.application", false), ("development.normal.com.example.other", false),
            ("development.normal.com", false),
        ] {
            let error = try refusal(of: .publish("apns.jobs", key: key), by: account, at: broker)
            #expect(error?.replyCode == (isAllowed ? nil : 403), "\(key): \(error as Any)")
        }
    }

    @Test("whatever reply_to says, a reply reaches no queue of jobs, results or dead letters")
    func replies() async throws {
        let stack = try await BrokerStack.start("replies", settings: "replies: { allow: \".*\" }")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let taps = try ["apns.results", "apns.dead", "apns.jobs"].map { try client.tap($0) }
        for address in ["apns.q.results", "apns.q.dead", "apns.q.jobs.app", "apns.q.retry.2s", "#", ""] {
            let name = "reply to \(address)"
            try client.publish(
                .raw(token: .text(Tokens.good)).keyed(Self.job).with { $0.replyTo = address }, as: name)
            let result = try client.result(name)
            #expect(
                result.result.outcome == "accepted" && result.result.detail?.contains("reply") == true, "\(address)")
            // The job itself and its one result; nothing else went through any exchange that leads to a queue.
            _ = try client.next(name, from: taps[0])
            _ = try client.next(name, from: taps[2])
        }
        for tap in taps { try client.expectNothing(in: tap) }
        try client.expectNothing(in: "apns.q.results")
        try await worker.stop()
    }

    @Test("a wrong password and a wrong virtual host are refused, and no error repeats the password")
    func logins() throws {
        let (broker, accounts) = try Self.users.get()
        let account = try #require(accounts[.worker])
        for (password, host) in [("wrong-password", Self.virtualHost), (account.password, "/")] {
            let error = #expect(throws: AMQPError.self) {
                try Self.connect(account.user.name, password, host, broker)
            }
            #expect(error?.code == .refused, "\(error as Any)")
            #expect(error?.message.contains(password) == false)
        }
    }

    /// The contract's objects with a user per role, just as `topology render --users` writes them, and a second
    /// producer.
    private static let users = Result {
        let broker = try RingBroker.broker.get()
        let topology = BrokerTopology(
            routes: [TopologyRoute(name: "app", environment: .development, topics: ["com.example.app"])],
            tiers: [RetryTier(milliseconds: 2_000)], virtualHost: virtualHost)
        let accounts = Dictionary(
            uniqueKeysWithValues: try BrokerRole.allCases.map { ($0, try BrokerAccount.new($0)) })
        try broker.importDefinitions(
            json: Array(topology.definitions(users: accounts.values.map(\.user)).utf8))
        return (broker, accounts)
    }

    private static func connect(
        _ user: String, _ password: String, _ host: String, _ broker: PrivateBroker
    ) throws -> AMQPBlockingClient {
        var endpoint = try AMQPEndpoint.parse(uri: broker.uri)
        endpoint.user = user
        endpoint.password = password
        endpoint.virtualHost = host
        return try AMQPBlockingClient.connect(endpoint, clientName: "role")
    }

    /// Tries a deed. It is tried again where its queue is still locked, because the broker has not yet let go of the
    /// connection of the deed before.
    ///
    /// - Returns: The broker's refusal; nil when it let it happen.
    private func refusal(of deed: Deed, by account: BrokerAccount, at broker: PrivateBroker) throws -> AMQPError? {
        let deadline = ContinuousClock.now.advanced(by: .seconds(10))
        while true {
            let error = try outcome(of: deed, by: account, at: broker)
            guard error?.replyCode == 405, ContinuousClock.now < deadline else { return error }
        }
    }

    /// Tries a deed on a connection of its own, because a refusal closes the channel.
    ///
    /// - Returns: The broker's refusal; nil when it let it happen.
    private func outcome(of deed: Deed, by account: BrokerAccount, at broker: PrivateBroker) throws -> AMQPError? {
        let client = try Self.connect(account.user.name, account.password, Self.virtualHost, broker)
        defer { client.close() }
        do throws(AMQPError) {
            switch deed {
            case .publish(let exchange, let key):
                var message = OutgoingMessage()
                message.isMandatory = true
                message.setExchange(Array(exchange.utf8).span)
                message.setRoutingKey(Array(key.utf8).span)
                message.setMessageID(Array("role".utf8).span)
                message.setBody([1].span)
                // Returned is as good as confirmed: the broker let it in.
                _ = try client.publishConfirmed(message)
            case .consume(let queue): try client.startConsuming(queue: queue)
            case .declare(let queue): _ = try client.declareQueue(queue, exclusive: true)
            case .bind(let queue, let exchange, let key):
                if !queue.hasPrefix("apns.q.jobs"), !["apns.q.results", "apns.q.dead"].contains(queue) {
                    _ = try client.declareQueue(queue, exclusive: true)
                }
                try client.bind(queue: queue, exchange: exchange, routingKey: key)
            }
            return nil
        } catch {
            return error
        }
    }
}
