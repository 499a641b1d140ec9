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
