import TestSupport

@testable import Simulation

extension Script {
    static let counting: [Script] = [
        Script("a message that comes back stands in front", ["c 3 again /n.front 1", "c 4 again /n.front 2"]) { stage in
            let client = try stage.filled("n.front", 4, [("x-delivery-limit", .long(50))])
            try client.consume("n.front", prefetch: 2)
            try client.expect("consume-ok")
            _ = try client.next(2)
            try client.negativeAcknowledge(2, multiple: true)
            return try client.next(2)
        },
        Script(
            "nack counts, before 4.3",
            {
                $0 == .release43
                    ? ["x-delivery-count -", "x-acquired-count 1"] : ["x-delivery-count 1", "x-acquired-count -"]
            }
        ) {
            stage in
            let client = try stage.counted("n.nack") { try $0.negativeAcknowledge($1) }
            return [client.header("x-delivery-count"), client.header("x-acquired-count")]
        },
        Script(
            "reject counts", { ["x-delivery-count 1", $0 == .release43 ? "x-acquired-count 1" : "x-acquired-count -"] }
        ) {
            stage in
            let client = try stage.counted("n.reject") { try $0.reject($1, requeue: true) }
            return [client.header("x-delivery-count"), client.header("x-acquired-count")]
        },
        Script(
            "the end of a connection counts",
            {
                [
                    "c 1 again /n.cut 1", "x-delivery-count 1",
                    $0 == .release43 ? "x-acquired-count 1" : "x-acquired-count -",
                ]
            }
        ) {
            stage in
            let client = try stage.filled("n.cut", 1, [("x-delivery-limit", .long(50))])
            try client.consume("n.cut", prefetch: 2)
            try client.expect("consume-ok")
            _ = try client.next()
            client.cut()
            let other = try stage.connect()
            try other.open()
            try other.consume("n.cut", prefetch: 2)
            try other.expect("consume-ok")
            return [try other.next(), other.header("x-delivery-count"), other.header("x-acquired-count")]
        },
        Script("a first delivery has the count that a producer wrote", ["c 1 new /n.forged 1", "x-delivery-count 30"]) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("n.forged", [("x-delivery-limit", .long(50))])
            try client.publish("1", "n.forged", headers: [("x-delivery-count", .long(30))])
            try client.consume("n.forged", prefetch: 2)
            try client.expect("consume-ok")
            return [try client.next(), client.header("x-delivery-count")]
        },
        Script(
            "a message over its delivery limit is a dead letter", ["reason delivery_limit", "queue n.limit", "count 1"]
        ) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("n.limit.dead")
            try client.declareExchange("n.limit.dlx", "fanout")
            try client.bind("n.limit.dead", to: "n.limit.dlx")
            try client.declareQueue(
                "n.limit", [("x-delivery-limit", .long(2)), ("x-dead-letter-exchange", .text("n.limit.dlx"))])
            try client.publish("1", "n.limit")
            try client.consume("n.limit", prefetch: 1)
            try client.expect("consume-ok")
            for tag: UInt64 in 1...3 {
                _ = try client.next()
                try client.reject(tag, requeue: true)
            }
            _ = try client.awaitMessage(in: "n.limit.dead")
            return [client.death("reason"), client.death("queue"), client.death("count")]
        },
    ]

    static let more: [Script] = [
        Script(
            "returned messages keep the order in which they came back",
            ["c 4 again /m.order 2", "c 5 again /m.order 1"]
        ) {
            stage in
            let client = try stage.filled("m.order", 3, [("x-delivery-limit", .long(50))])
            try client.consume("m.order", prefetch: 3)
            try client.expect("consume-ok")
            _ = try client.next(3)
            try client.negativeAcknowledge(2)
            let first = try client.next()
            try client.negativeAcknowledge(1)
            return [first, try client.next()]
        },
        Script(
            "without a limit 3.10 puts what comes back at the tail",
            {
                $0 == .release310
                    ? ["c 2 new /m.tail 2", "c 3 again /m.tail 1"] : ["c 2 again /m.tail 1", "c 3 new /m.tail 2"]
            }
        ) { stage in
            let client = try stage.filled("m.tail", 2)
            try client.consume("m.tail", prefetch: 1)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.negativeAcknowledge(1)
            let second = try client.next()
            try client.acknowledge(2)
            return [second, try client.next()]
        },
        Script("a cut connection gives back all that it had, in order", ["c 1 again /m.cut 1", "c 2 again /m.cut 2"]) {
            stage in
            let client = try stage.filled("m.cut", 2, [("x-delivery-limit", .long(50))])
            try client.consume("m.cut", prefetch: 5)
            try client.expect("consume-ok")
            _ = try client.next(2)
            client.cut()
            let other = try stage.connect()
            try other.open()
            try other.consume("m.cut", prefetch: 5)
            try other.expect("consume-ok")
            return try other.next(2)
        },
        Script("a delivery to another consumer is marked as delivered before", ["b 1 again /m.other 1"]) { stage in
            let client = try stage.filled("m.other", 1, [("x-delivery-limit", .long(50))])
            try client.open(2)
            try client.consume("m.other", prefetch: 1, tag: "a")
            try client.expect("consume-ok")
            _ = try client.next()
            try client.consume("m.other", prefetch: 1, tag: "b", channel: 2)
            try client.expect("consume-ok")
            try client.send(1, 20, 40) {
                $0.u16(200)
                $0.short("")
                $0.u32(0)
            }
            return try client.next(2).filter { $0 != "channel-close-ok" }
        },
        Script("a quorum queue knows no exclusive use", ["consume-ok"]) { stage in
            let client = try stage.filled("m.exclusive", 0)
            try client.send(1, 60, 20) {
                $0.u16(0)
                $0.short("m.exclusive")
                $0.short("first")
                $0.u8(4)
                $0.table(WireTable())
            }
            try client.expect("consume-ok")
            try client.open(2)
            try client.consume("m.exclusive", prefetch: 1, tag: "second", channel: 2)
            return [try client.next()]
        },
        Script("another connection's exclusive queue is locked", ["channel closed 405"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("m.locked", exclusive: true)
            let other = try stage.connect()
            try other.open()
            return [try other.get("m.locked")]
        },
        Script("an acknowledgement of all, on a channel without deliveries, is harmless", ["qos-ok"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.acknowledge(0, multiple: true)
            try client.send(1, 60, 10) {
                $0.u32(0)
                $0.u16(1)
                $0.u8(0)
            }
            return [try client.next()]
        },
        Script(
            "a tier's copy that dies twice has both deaths, the latest first", ["queue m.both", "queue m.both.tier"]
        ) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("m.both.dlx", "fanout")
            try client.declareQueue("m.both.dead")
            try client.bind("m.both.dead", to: "m.both.dlx")
            try client.declareExchange("m.both.back", "fanout")
            try client.declareQueue("m.both", [("x-dead-letter-exchange", .text("m.both.dlx"))])
            try client.bind("m.both", to: "m.both.back")
            try client.declareQueue(
                "m.both.tier", [("x-message-ttl", .long(5)), ("x-dead-letter-exchange", .text("m.both.back"))])
            try client.publish("1", "m.both.tier")
            try client.consume("m.both", prefetch: 1)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.reject(1, requeue: false)
            _ = try client.awaitMessage(in: "m.both.dead")
            return [client.death("queue"), client.death("queue", 1)]
        },
        Script("a tier leads on more messages than it has under way at once", ["100"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("m.many.back", "fanout")
            try client.declareQueue("m.many")
            try client.bind("m.many", to: "m.many.back")
            try client.declareQueue(
                "m.many.tier",
                [
                    ("x-message-ttl", .long(5)), ("x-dead-letter-exchange", .text("m.many.back")),
                    ("x-dead-letter-strategy", .text("at-least-once")), ("x-overflow", .text("reject-publish")),
                ])
            for number in 1...100 { try client.publish("\(number)", "m.many.tier") }
            var found: Set<String> = []
            for _ in 1...100 { found.insert(try client.awaitMessage(in: "m.many")) }
            return ["\(found.count)"]
        },
        Script("a reply to a queue's own name goes through the default exchange", ["got new /m.reply 1"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("m.reply", exclusive: true)
            try client.publish("1", "m.reply")
            return [try client.awaitMessage(in: "m.reply")]
        },
        Script("a mandatory message to a missing queue comes back", ["returned 312 /m.none lost", "ack 1"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.confirms()
            try client.publish("lost", "m.none", mandatory: true)
            return try client.next(2)
        },
        Script("a stream's last chunk can be asked for", ["x-stream-offset 0", "c 1 new /m.last 1"]) { stage in
            let client = try stage.filled("m.last", 1, [("x-queue-type", .text("stream"))])
            try client.consume("m.last", prefetch: 5, [("x-stream-offset", .text("last"))])
            try client.expect("consume-ok")
            let event = try client.next()
            return [client.header("x-stream-offset"), event]
        },
        Script("a nack without requeue is a dead letter", ["reason rejected"]) { stage in
            let client = try stage.dying("m.nack", "m.nack.dlx", [])
            try client.publish("1", "m.nack")
            try client.consume("m.nack", prefetch: 1)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.negativeAcknowledge(1, requeue: false)
            _ = try client.awaitMessage(in: "m.nack.dead")
            return [client.death("reason")]
        },
        Script("a letter without a dead-letter exchange is gone", ["empty"]) { stage in
            let client = try stage.filled("m.gone", 1)
            try client.consume("m.gone", prefetch: 1)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.reject(1, requeue: false)
            return [try client.get("m.gone")]
        },
        Script("a closed channel says nothing of what was published on it", ["channel closed 404", "channel-open-ok"]) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.confirms()
            try client.publish("1", to: "m.missing", "a")
            let closed = try client.next()
            try client.open()
            return [closed, "channel-open-ok"]
        },
        Script("confirms begin at one on each opening", ["ack 1", "ack 1"]) { stage in
            let client = try stage.filled("m.numbers", 0)
            var events: [String] = []
            for _ in 0..<2 {
                try client.confirms()
                try client.publish("1", "m.numbers")
                events.append(try client.next())
                try client.send(1, 20, 40) {
                    $0.u16(200)
                    $0.short("")
                    $0.u32(0)
                }
                try client.expect("channel-close-ok")
                try client.open()
            }
            return events
        },
    ]
}
