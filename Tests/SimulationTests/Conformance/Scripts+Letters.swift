import TestSupport

@testable import Simulation

extension Script {
    static let dying: [Script] = [
        // Since 4.0 the mark of a delivery goes along with the letter.
        Script(
            "a refused message is a dead letter with its history",
            {
                [
                    "got \($0 == .release310 ? "new" : "again") d.dlx/d.rejected 1", "reason rejected",
                    "queue d.rejected",
                    "exchange ", "count 1", "x-first-death-queue d.rejected", "x-first-death-reason rejected",
                    "x-delivery-count \($0 == .release310 ? "0" : "1")",
                    "x-acquired-count \($0 == .release43 ? "1" : "-")",
                ]
            }
        ) { stage in
            let client = try stage.dying("d.rejected", "d.dlx", [])
            try client.publish("1", "d.rejected")
            try client.consume("d.rejected", prefetch: 1)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.reject(1, requeue: false)
            return [
                try client.awaitMessage(in: "d.rejected.dead"), client.death("reason"), client.death("queue"),
                client.death("exchange"), client.death("count"), client.header("x-first-death-queue"),
                client.header("x-first-death-reason"), client.header("x-delivery-count"),
                client.header("x-acquired-count"),
            ]
        },
        Script(
            "an expired message is a dead letter without its expiration",
            [
                "got new d.expired.dlx/d.expired 1", "reason expired", "original-expiration 5", "expiration -",
            ]
        ) { stage in
            let client = try stage.dying("d.expired", "d.expired.dlx", [])
            try client.publish("1", "d.expired", expiration: "5")
            let event = try client.awaitMessage(in: "d.expired.dead")
            let isKept = client.lastProperties?[.expiration] != nil
            return [
                event, client.death("reason"), client.death("original-expiration"),
                "expiration \(isKept ? "kept" : "-")",
            ]
        },
        Script(
            "a tier leads a message on with the key that it came with", ["got new d.tier.back/a.b.c 1", "queue d.tier"]
        ) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("d.tier.back", "topic")
            try client.declareQueue("d.tier.target")
            try client.bind("d.tier.target", to: "d.tier.back", "a.#")
            try client.declareExchange("d.tier.in", "fanout")
            try client.declareQueue(
                "d.tier",
                [
                    ("x-message-ttl", .long(20)), ("x-dead-letter-exchange", .text("d.tier.back")),
                    ("x-dead-letter-strategy", .text("at-least-once")), ("x-overflow", .text("reject-publish")),
                ])
            try client.bind("d.tier", to: "d.tier.in")
            try client.publish("1", to: "d.tier.in", "a.b.c")
            return [try client.awaitMessage(in: "d.tier.target"), client.death("queue")]
        },
        Script("only the head of a queue expires", ["got new d.head.dlx/d.head 2", "got new d.head.dlx/d.head 1"]) {
            stage in
            let client = try stage.dying("d.head", "d.head.dlx", [])
            try client.publish("1", "d.head", expiration: "400")
            try client.publish("2", "d.head", expiration: "1")
            let first = try client.awaitMessage(in: "d.head.dead")
            return [try client.awaitMessage(in: "d.head.dead"), first]
        },
        Script("a second death of the same kind is counted", { [$0 == .release310 ? "count 2" : "count 1"] }) { stage in
            let client = try stage.dying("d.count", "d.count.dlx", [])
            try client.publish("1", "d.count", expiration: "1")
            _ = try client.awaitMessage(in: "d.count.dead")
            // Published again with its history, as somebody does who copies all headers.
            let history = client.headers["x-death"] ?? .long(0)
            try client.publish("1", "d.count", expiration: "1", headers: [("x-death", history)])
            _ = try client.awaitMessage(in: "d.count.dead")
            return [client.death("count")]
        },
        Script("a queue without a limit of its own drops its head", ["got new /d.drop 3"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("d.drop", [("x-max-length", .long(1))])
            try client.confirms()
            for number in 1...3 { try client.publish("\(number)", "d.drop") }
            _ = try client.confirmed(3)
            return [try client.awaitMessage(in: "d.drop")]
        },
        Script("dead letters wait for a full queue", ["nothing lost"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("d.full.dlx", "fanout")
            try client.declareQueue(
                "d.full.dead", [("x-max-length", .long(1)), ("x-overflow", .text("reject-publish"))])
            try client.bind("d.full.dead", to: "d.full.dlx")
            try client.declareQueue(
                "d.full",
                [
                    ("x-message-ttl", .long(1)), ("x-dead-letter-exchange", .text("d.full.dlx")),
                    ("x-dead-letter-strategy", .text("at-least-once")), ("x-overflow", .text("reject-publish")),
                ])
            try client.confirms()
            try client.publish("1", "d.full")
            try client.publish("2", "d.full")
            _ = try client.confirmed(2)
            _ = try client.awaitMessage(in: "d.full.dead")
            return ["nothing lost"]
        },
    ]

    static let routing: [Script] = [
        Script(
            "a topic exchange knows words, * and #", ["got new r.topic/a.b.c 1", "got new r.topic/a.b.c 1", "empty"]
        ) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("r.topic", "topic")
            for (queue, key) in [("r.star", "a.*.c"), ("r.hash", "a.#"), ("r.other", "a.*")] {
                try client.declareQueue(queue)
                try client.bind(queue, to: "r.topic", key)
            }
            try client.confirms()
            try client.publish("1", to: "r.topic", "a.b.c")
            _ = try client.confirmed(1)
            return [try client.get("r.star"), try client.get("r.hash"), try client.get("r.other")]
        },
        Script(
            "an alternate exchange takes what no queue takes, under the first exchange's name", ["got new r.first/a 1"]
        ) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("r.second", "fanout")
            try client.declareExchange("r.first", "topic", alternate: "r.second")
            try client.declareQueue("r.rest")
            try client.bind("r.rest", to: "r.second")
            try client.publish("1", to: "r.first", "a")
            return [try client.awaitMessage(in: "r.rest")]
        },
        Script("a message that goes from exchange to exchange keeps the first one's name", ["got new r.source/a 1"]) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("r.target", "topic")
            try client.declareExchange("r.source", "fanout")
            try client.bindExchange("r.target", to: "r.source")
            try client.declareQueue("r.end")
            try client.bind("r.end", to: "r.target", "a")
            try client.publish("1", to: "r.source", "a")
            return [try client.awaitMessage(in: "r.end")]
        },
        Script(
            "BCC leads to one more queue and is not seen there", ["got new r.bcc/a 1", "got new r.bcc/a 1", "BCC -"]
        ) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("r.bcc", "direct")
            for queue in ["r.bcc.a", "r.bcc.b"] {
                try client.declareQueue(queue)
                try client.bind(queue, to: "r.bcc", String(queue.last ?? "x"))
            }
            try client.publish("1", to: "r.bcc", "a", headers: [("BCC", .array([.text("b")]))])
            return [
                try client.awaitMessage(in: "r.bcc.a"), try client.awaitMessage(in: "r.bcc.b"), client.header("BCC"),
            ]
        },
    ]

    static let streaming: [Script] = [
        Script(
            "a stream is read from its first message",
            [
                "c 1 new /s.first 1", "x-stream-offset 0", "c 2 new /s.first 2", "x-stream-offset 1",
            ]
        ) { stage in
            let client = try stage.filled("s.first", 2, [("x-queue-type", .text("stream"))])
            try client.consume("s.first", prefetch: 1, [("x-stream-offset", .text("first"))])
            try client.expect("consume-ok")
            var events = [try client.next(), client.header("x-stream-offset")]
            try client.acknowledge(1)
            events += [try client.next(), client.header("x-stream-offset")]
            return events
        },
        Script("what is read of a stream stays there", ["c 1 new /s.stays 1", "c 1 new /s.stays 1"]) { stage in
            let client = try stage.filled("s.stays", 1, [("x-queue-type", .text("stream"))])
            var events: [String] = []
            for _ in 0..<2 {
                let reader = try stage.connect()
                try reader.open()
                try reader.consume("s.stays", prefetch: 5, [("x-stream-offset", .text("first"))])
                try reader.expect("consume-ok")
                events.append(try reader.next())
                try reader.acknowledge(1)
            }
            _ = client
            return events
        },
    ]

    static let rights: [Script] = [
        Script("publishing without the right closes the channel", ["channel closed 403"]) { stage in
            try stage.addUser("u.reader", configure: "^$", write: "^$", read: ".*")
            let client = try stage.connect(user: "u.reader")
            try client.open()
            try client.publish("1", to: "amq.topic", "a")
            return [try client.next()]
        },
        Script("consuming without the right closes the channel", ["channel closed 403"]) { stage in
            try stage.addUser("u.writer", configure: "^$", write: ".*", read: "^$")
            _ = try stage.filled("u.queue", 1)
            let client = try stage.connect(user: "u.writer")
            try client.open()
            try client.consume("u.queue", prefetch: 1)
            return [try client.next()]
        },
        Script(
            "a topic permission holds for the exchange that is published to, and for no way round it",
            [
                "channel closed 403", "got new u.round/other.x 1",
            ]
        ) { stage in
            let owner = try stage.connect()
            try owner.open()
            try owner.declareExchange("u.jobs", "topic")
            try owner.declareQueue("u.other")
            try owner.bind("u.other", to: "u.jobs", "other.#")
            try stage.addUser("u.one", configure: "^u\\.round$", write: "^u\\.(jobs|round)$", read: "^u\\.round$")
            try stage.allowTopic("u.one", "u.jobs", write: "^mine\\.")
            let client = try stage.connect(user: "u.one")
            try client.open()
            try client.publish("1", to: "u.jobs", "other.x")
            let refused = try client.next()
            try client.open()
            try client.declareExchange("u.round", "fanout")
            try client.bindExchange("u.jobs", to: "u.round")
            try client.publish("1", to: "u.round", "other.x")
            return [refused, try owner.awaitMessage(in: "u.other")]
        },
        Script("a wrong login is refused with a reason", ["connection closed 403"]) { stage in
            let client = try stage.connect(user: "u.nobody")
            return client.events.isEmpty ? ["connection closed 403"] : client.events
        },
    ]
}

extension Stage {
    /// A client, and a queue whose dead letters go through an exchange into `NAME.dead`.
    func dying(_ queue: String, _ exchange: String, _ arguments: [(String, WireValue)]) throws -> ScriptClient {
        let client = try connect()
        try client.open()
        try client.declareExchange(exchange, "fanout")
        try client.declareQueue("\(queue).dead")
        try client.bind("\(queue).dead", to: exchange)
        try client.declareQueue(
            queue, [("x-dead-letter-exchange", .text(exchange)), ("x-delivery-limit", .long(50))] + arguments)
        return client
    }
}
