import Testing

@testable import Topology

@Suite("Commands for rabbitmqadmin", .timeLimit(.minutes(1)))
struct AdminCommandsTests {
    private static let start =
        "rabbitmqadmin --host broker --port 15672 --username ann --password \"$RABBITMQADMIN_PASSWORD\" --vhost / "

    private static let policy = TopologyPolicy(
        name: "apns.q.dead", pattern: "^apns\\.q\\.dead$", scope: .queues, priority: 10,
        settings: [.init(key: "max-length", value: .integer(5))])
    private static let binding = TopologyBinding(source: "e", queue: "q", routingKey: "a.#")

    private func admin() -> AdminCommands {
        AdminCommands(ManagementPlace(host: "broker", port: 15672, user: "ann"), virtualHost: "/")
    }

    private static func unbind(_ routingKey: String, _ propertiesKey: String) -> TopologyRemedy {
        .unbind(.init(source: "e", destination: "q", routingKey: routingKey, propertiesKey: propertiesKey))
    }

    private static let rows: [(TopologyRemedy, String?)] = [
        (.declareExchange(name: "e", kind: .topic), "\(start)declare exchange --name e --type topic --durable true"),
        (.deleteExchange(name: "e"), "\(start)delete exchange --name e"),
        (.declareQueue(name: "q", kind: .quorum), "\(start)declare queue --name q --type quorum --durable true"),
        (.deleteQueue(name: "q", onlyIfEmpty: true), "rabbitmqctl delete_queue -p / q --if-empty"),
        (.deleteQueue(name: "q", onlyIfEmpty: false), "rabbitmqctl delete_queue -p / q"),
        (
            .bind(binding),
            "\(start)declare binding --source e --destination q --destination-type queue --routing-key 'a.#'"
        ),
        (
            unbind("a.#", "a.%23"),
            "\(start)delete binding --source e --destination q --destination-type queue --routing-key 'a.#'"
        ),
        (
            unbind("a b+c", "a+b%2Bc"),
            "\(start)delete binding --source e --destination q --destination-type queue --routing-key 'a b+c'"
        ),
        // One of a fanout exchange.
        (
            unbind("", "~"),
            "\(start)delete binding --source e --destination q --destination-type queue --routing-key ''"
        ),
        // One with arguments, which version 2 would have to be told.
        (unbind("a", "a~hash"), nil),
        (
            .set(policy),
            "\(start)declare policy --name apns.q.dead --pattern '^apns\\.q\\.dead$' --apply-to queues --priority 10 "
                + "--definition '{ \"max-length\": 5 }'"
        ),
        (.clear(policy: "all's"), "\(start)delete policy --name 'all'\\''s'"),
        (.apply, "martlet topology apply"),
    ]

    @Test("Version 2 gets its own words for each remedy", arguments: rows)
    func two(_ remedy: TopologyRemedy, _ line: String?) {
        #expect(admin().two([remedy]) == line)
    }

    @Test("Several remedies are one line; where version 2 cannot do one of them, it gets none")
    func several() {
        let delete = TopologyRemedy.deleteExchange(name: "e")
        #expect(admin().two([delete, .apply]) == "\(Self.start)delete exchange --name e && martlet topology apply")
        let unbind = Self.unbind("a", "a~hash")
        #expect(admin().two([delete, unbind]) == nil)
        #expect(admin().one([delete, unbind]).hasSuffix("properties_key='a~hash'"))
    }

    @Test("TLS, a prefix, an IPv6 address and odd names go into both syntaxes")
    func places() {
        let place = ManagementPlace(host: "::1", port: 443, isEncrypted: true, prefix: "/mq", user: "a b")
        let admin = AdminCommands(place, virtualHost: "push it")
        #expect(
            admin.two([.clear(policy: "p")])
                == "rabbitmqadmin --host '[::1]' --port 443 --username 'a b' --password \"$RABBITMQADMIN_PASSWORD\" "
                + "--use-tls --tls-ca-cert-file \"$CA_FILE\" --path-prefix /mq/api --vhost 'push it' "
                + "delete policy --name p")
        #expect(
            admin.one([.clear(policy: "p")])
                == "rabbitmqadmin --host='::1' --port=443 --username='a b' --password=\"$RABBITMQADMIN_PASSWORD\" "
                + "--ssl --path-prefix=/mq --vhost='push it' delete policy name=p")
        #expect(admin.one([.deleteQueue(name: "q", onlyIfEmpty: false)]) == "rabbitmqctl delete_queue -p 'push it' q")
    }
}
