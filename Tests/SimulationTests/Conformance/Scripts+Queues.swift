import TestSupport

@testable import Simulation

extension Script {
    static let publishing: [Script] = [
        Script("a publication that a queue stores is confirmed", []) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("p.stored")
            try client.confirms()
            for number in 1...20 { try client.publish("\(number)", "p.stored") }
            return try client.confirmed(20)
        },
        Script("an unroutable publication is confirmed", []) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("p.nowhere", "topic")
            try client.confirms()
            try client.publish("lost", to: "p.nowhere", "a.b")
            return try client.confirmed(1)
        },
        Script("a mandatory one comes back before its confirm", ["returned 312 p.back/a.b lost", "ack 1"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("p.back", "topic")
            try client.confirms()
            try client.publish("lost", to: "p.back", "a.b", mandatory: true)
            return try client.next(2)
        },
        Script("a missing exchange closes the channel and no other", ["channel closed 404", "declare-ok"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.open(2)
            try client.publish("lost", to: "p.missing", "a")
            let closed = try client.next()
            try client.send(2, 50, 10) {
                $0.u16(0)
                $0.short("p.other")
                $0.u8(4)
                $0.table(WireTable())
            }
            return [closed, try client.next()]
        },
        Script("a closed channel can be opened again", ["channel closed 404", "declare-ok"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.publish("lost", to: "p.missing", "a")
            let closed = try client.next()
            try client.open()
            try client.declareQueue("p.again", exclusive: true)
            return [closed, "declare-ok"]
        },
        Script("a full queue with reject-publish refuses", ["nack"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("p.full", [("x-max-length", .long(2)), ("x-overflow", .text("reject-publish"))])
            try client.confirms()
            // The limit is soft: a few more may be taken.
            var number: UInt64 = 0
            while number < 200 {
                number += 1
                try client.publish("x", "p.full")
                if try client.confirmed(1, from: number) != [] { return ["nack"] }
            }
            return ["took \(number)"]
        },
        Script("a full queue that is emptied takes again", ["nack", "taken"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("p.room", [("x-max-length", .long(1)), ("x-overflow", .text("reject-publish"))])
            try client.confirms()
            var (number, events): (UInt64, [String]) = (0, [])
            while number < 400, events.count < 2 {
                number += 1
                try client.publish("x", "p.room")
                let isTaken = try client.confirmed(1, from: number).isEmpty
                if isTaken == events.isEmpty { continue }
                events.append(isTaken ? "taken" : "nack")
                if events == ["nack"] {
                    try client.send(1, 50, 30) {
                        $0.u16(0)
                        $0.short("p.room")
                        $0.u8(0)
                    }
                    try client.expect("purge-ok")
                }
            }
            return events
        },
        Script("one message in two queues is confirmed once", ["got new p.two/k both", "got new p.two/k both"]) {
            stage in
            let client = try stage.connect()
            try client.open()
            try client.declareExchange("p.two", "direct")
            for queue in ["p.two.a", "p.two.b"] {
                try client.declareQueue(queue)
                try client.bind(queue, to: "p.two", "k")
            }
            try client.confirms()
            try client.publish("both", to: "p.two", "k")
            return try client.confirmed(1) + [client.get("p.two.a"), client.get("p.two.b")]
        },
    ]

    static let consuming: [Script] = [
        Script("messages come in order, and no more than the prefetch", ["c 1 new /c.order 1", "c 2 new /c.order 2"]) {
            stage in
            let client = try stage.filled("c.order", 5)
            try client.consume("c.order", prefetch: 2)
            try client.expect("consume-ok")
            return try client.next(2)
        },
        Script("an acknowledgement makes room", ["c 1 new /c.room 1", "c 2 new /c.room 2", "c 3 new /c.room 3"]) {
            stage in
            let client = try stage.filled("c.room", 3)
            try client.consume("c.room", prefetch: 1)
            try client.expect("consume-ok")
            var events = [try client.next()]
            for tag: UInt64 in 1...2 {
                try client.acknowledge(tag)
                events.append(try client.next())
            }
            return events
        },
        Script("an acknowledgement of several makes room for as many", ["c 3 new /c.multi 3", "c 4 new /c.multi 4"]) {
            stage in
            let client = try stage.filled("c.multi", 4)
            try client.consume("c.multi", prefetch: 2)
            try client.expect("consume-ok")
            _ = try client.next(2)
            try client.acknowledge(2, multiple: true)
            return try client.next(2)
        },
        Script("prefetch holds for each consumer", ["a 1 new /c.each 1", "b 2 new /c.each 2"]) { stage in
            let client = try stage.filled("c.each", 2)
            try client.consume("c.each", prefetch: 1, tag: "a")
            try client.expect("consume-ok")
            let first = try client.next()
            try client.consume("c.each", prefetch: 1, tag: "b")
            try client.expect("consume-ok")
            return [first, try client.next()]
        },
        Script("an unknown tag closes the channel", ["channel closed 406"]) { stage in
            let client = try stage.filled("c.unknown", 1)
            try client.acknowledge(7)
            return [try client.next()]
        },
        Script("a tag that was settled closes the channel", ["channel closed 406"]) { stage in
            let client = try stage.filled("c.twice", 1)
            try client.consume("c.twice", prefetch: 5)
            try client.expect("consume-ok")
            _ = try client.next()
            try client.acknowledge(1)
            try client.acknowledge(1)
            return [try client.next()]
        },
        Script("tags begin anew on a new opening of a channel", ["c 1 new /c.anew 1", "c 1 again /c.anew 1"]) { stage in
            let client = try stage.filled("c.anew", 1)
            try client.consume("c.anew", prefetch: 5)
            try client.expect("consume-ok")
            let first = try client.next()
            try client.send(1, 20, 40) {
                $0.u16(200)
                $0.short("")
                $0.u32(0)
            }
            try client.expect("channel-close-ok")
            try client.open()
            try client.consume("c.anew", prefetch: 5)
            try client.expect("consume-ok")
            return [first, try client.next()]
        },
        Script("a cancelled consumer keeps what it has, and gets no more", ["cancel-ok", "got new /c.cancel 3"]) {
            stage in
            let client = try stage.filled("c.cancel", 3)
            try client.consume("c.cancel", prefetch: 2)
            try client.expect("consume-ok")
            _ = try client.next(2)
            try client.cancel()
            let cancelled = try client.next()
            try client.acknowledge(2, multiple: true)
            return [cancelled, try client.awaitMessage(in: "c.cancel")]
        },
        Script("the end of a queue cancels its consumers", ["cancelled c", "delete-ok"]) { stage in
            let client = try stage.filled("c.gone", 0)
            try client.open(2)
            try client.consume("c.gone", prefetch: 2, channel: 2)
            try client.expect("consume-ok")
            try client.deleteQueue("c.gone")
            return try client.next(2).sorted()
        },
        Script("a missing queue closes the channel", ["channel closed 404"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.consume("c.missing", prefetch: 2)
            return [try client.next()]
        },
        Script("an exclusive queue goes with its connection", ["channel closed 404"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("c.own", exclusive: true)
            client.cut()
            let other = try stage.connect()
            for _ in 0..<1000 {
                try other.open()
                let event = try other.get("c.own")
                if event == "channel closed 404" { return [event] }
                if !event.hasPrefix("channel closed") {
                    try other.send(1, 20, 40) {
                        $0.u16(200); $0.short(""); $0.u32(0)
                    }
                }
                if event == "empty" { try other.expect("channel-close-ok") }
            }
            return ["still there"]
        },
        Script("consumers of a higher priority come first", ["high 1 new /c.priority 1"]) { stage in
            let client = try stage.connect()
            try client.open()
            try client.declareQueue("c.priority")
            try client.consume("c.priority", prefetch: 5, tag: "low")
            try client.expect("consume-ok")
            try client.consume("c.priority", prefetch: 5, tag: "high", [("x-priority", .long(5))])
            try client.expect("consume-ok")
            try client.publish("1", "c.priority")
            return [try client.next()]
        },
    ]

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
}

extension Stage {
    /// A client on channel 1, and a quorum queue with so many messages: 1, 2, 3 …
    func filled(_ queue: String, _ count: Int, _ arguments: [(String, WireValue)] = []) throws -> ScriptClient {
        let client = try connect()
        try client.open()
        try client.declareQueue(queue, arguments)
        try client.open(9)
        try client.send(9, 85, 10) { $0.u8(0) }
        try client.expect("select-ok")
        for number in 0..<count { try client.publish("\(number + 1)", queue, channel: 9) }
        _ = try client.confirmed(UInt64(count))
        return client
    }

    /// A client that has given a message back, and has it again.
    func counted(_ queue: String, _ giveBack: (ScriptClient, UInt64) throws -> Void) throws -> ScriptClient {
        let client = try filled(queue, 1, [("x-delivery-limit", .long(50))])
        try client.consume(queue, prefetch: 1)
        try client.expect("consume-ok")
        _ = try client.next()
        try giveBack(client, 1)
        _ = try client.next()
        return client
    }
}

extension Script {
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
