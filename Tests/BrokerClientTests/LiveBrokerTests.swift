import EventLoop
import Glibc
import LocalStack
import TestSupport
import Testing

@testable import BrokerClient
@testable import RabbitMQ

@Suite("Against a real RabbitMQ", .serialized, .timeLimit(.minutes(2)))
struct LiveBrokerTests {
    private static let quorum = FieldTable(entries: [.init(name: Array("x-queue-type".utf8), value: .text("quorum"))])

    private func message(to queue: String, body: String = "body", id: String = "id") -> OutgoingMessage {
        var message = OutgoingMessage()
        message.setRoutingKey(Array(queue.utf8).span)
        message.setMessageID(Array(id.utf8).span)
        message.setBody(Array(body.utf8).span)
        message.isMandatory = true
        return message
    }

    // MARK: Connecting

    @Test(
        "wrong user, password or virtual host is refused in words",
        arguments: [
            ("guest:wrong", "/", UInt16(403), "ACCESS_REFUSED"), ("nobody:guest", "/", 403, "ACCESS_REFUSED"),
            ("guest:guest", "/none", 530, "NOT_ALLOWED"),
        ])
    func refused(login: String, virtualHost: String, code: UInt16, words: String) throws {
        let uri = "amqp://\(login)@127.0.0.1:\(try LiveBroker.broker.port)\(virtualHost)"
        let endpoint = try AMQPEndpoint.parse(uri: uri)
        let error = #expect(throws: AMQPError.self) { try AMQPBlockingClient.connect(endpoint, clientName: "test") }
        #expect(error?.code == .refused && error?.replyCode == code)
        #expect(error?.message.contains(words) == true)
        #expect(error?.message.contains("wrong") == false)
    }

    @Test("a port where nobody listens, or not a broker, is unreachable in words")
    func unreachable() throws {
        let free = AMQPEndpoint(host: "127.0.0.1", port: try FreePort.several(1)[0])
        let error = #expect(throws: AMQPError.self) { try AMQPBlockingClient.connect(free, clientName: "test") }
        #expect(error?.code == .unreachable && error?.message.contains("refused") == true, "\(error as Any)")
        let nowhere = AMQPEndpoint(host: "does-not-exist.invalid")
        let lookup = #expect(throws: AMQPError.self) { try AMQPBlockingClient.connect(nowhere, clientName: "test") }
        #expect(lookup?.code == .unresolved, "\(lookup as Any)")
        let listener = try Listener(address: .loopback(port: 0))
        var mute = AMQPEndpoint(host: "127.0.0.1", port: listener.address.port)
        mute.connectionTimeout = .milliseconds(300)
        let silence = #expect(throws: AMQPError.self) { try AMQPBlockingClient.connect(mute, clientName: "test") }
        #expect(silence?.code == .timeout, "\(silence as Any)")
    }

    // MARK: Messages

    @Test("a message comes back with all that was put into it")
    func roundTrip() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(exclusive: true)
        #expect(queue.hasPrefix("amq.gen-"))
        try client.bind(queue: queue, exchange: "amq.topic", routingKey: "#.\(queue)")
        var message = message(to: "accepted.\(queue)", body: "{}", id: "message")
        message.setExchange("amq.topic")
        message.setContentType("application/json")
        message.setTimestamp(5)
        for (name, value) in SampleTable.expected where name != "L" {
            message.addHeader(name: Array(name.utf8).span, value: value)
        }
        #expect(try client.publishConfirmed(message) == .confirmed)
        #expect(try client.depth(of: queue) == AMQPBlockingClient.QueueDepth(messages: 1, consumers: 0))
        let got = try #require(try client.get(queue: queue))
        #expect(Array(got.bytes[got.exchange]) == Array("amq.topic".utf8))
        #expect(Array(got.bytes[got.routingKey]) == Array("accepted.\(queue)".utf8))
        #expect(Array(got.bytes[got.body]) == Array("{}".utf8))
        let properties = try MessagePropertyReader(got.bytes, got.properties)
        #expect(properties.timestamp == 5 && properties.deliveryMode == 2)
        let table = try FieldTable(reading: try #require(properties.headers), in: got.bytes)
        for (name, value) in SampleTable.expected where name != "L" { #expect(table[name] == value, "\(name)") }
        try client.acknowledge(got)
        #expect(try client.get(queue: queue) == nil)
    }

    @Test("a mandatory message without a queue comes back, the others of the window do not")
    func returns() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(exclusive: true)
        #expect(try client.publishConfirmed(message(to: "none")) == .returned("no queue is bound for it"))
        for number in 1...50 {
            _ = try client.submit(message(to: number % 10 == 0 ? "none" : queue, id: "id \(number)"))
        }
        let outcomes = try client.flush()
        #expect(outcomes.count == 50 && client.unconfirmedCount == 0)
        for (number, result) in outcomes {
            // The first message of this client had the number 1.
            let isLost = (number - 1) % 10 == 0
            #expect(result == (isLost ? .returned("no queue is bound for it") : .confirmed))
        }
    }

    @Test("thousands of messages go through quorum queues, each confirmed, delivered and acknowledged once")
    func pipeline() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(LiveBroker.name("pipeline"), exclusive: false, arguments: Self.quorum)
        for number in 0..<5000 { _ = try client.submit(message(to: queue, body: "\(number)"), window: 500) }
        #expect(try client.flush().allSatisfy { $0.result == .confirmed })
        try client.startConsuming(queue: queue, prefetch: 200)
        for number in 0..<5000 {
            let delivery = try #require(try client.receive(timeout: .seconds(10)))
            #expect(Array(delivery.bytes[delivery.body]) == Array("\(number)".utf8))
            if number % 100 == 99 { try client.acknowledge(delivery, multiple: true) }
        }
        try client.stopConsuming()
        #expect(try client.receive(timeout: .zero) == nil)
        #expect(try client.delete(queue: queue) == 0)
    }

    @Test("a body of ten megabytes goes through, and is dropped where the limit is smaller")
    func largeBody() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(exclusive: true)
        let body = [UInt8](repeating: 0x5A, count: 10 << 20)
        var message = message(to: queue)
        message.setBody(body.span)
        #expect(try client.publishConfirmed(message) == .confirmed)
        let got = try #require(try client.get(queue: queue))
        #expect(Array(got.bytes[got.body]) == body)
        try client.reject(got, requeue: true)

        let small = try AMQPBlockingClient.connect(
            LiveBroker.endpoint, clientName: "small", bodyLimit: 262_144)
        defer { small.close() }
        let shared = try small.declareQueue(LiveBroker.name("large"), exclusive: false)
        message.setRoutingKey(Array(shared.utf8).span)
        #expect(try client.publishConfirmed(message) == .confirmed)
        let cut = try #require(try small.get(queue: shared))
        #expect(cut.isTruncated && cut.body.isEmpty && cut.bodySize == 10 << 20 && cut.bytes.count < 200)
        try small.reject(cut, requeue: false)
        #expect(try small.delete(queue: shared) == 0)
    }

    @Test("looking at a missing queue is an error with code 404, and the client goes on")
    func missingQueue() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let error = #expect(throws: AMQPError.self) { try client.depth(of: "missing") }
        #expect(error?.code == .channelClosed && error?.replyCode == 404)
        let consume = #expect(throws: AMQPError.self) { try client.startConsuming(queue: "missing") }
        #expect(consume?.replyCode == 404)
        #expect(try client.declareQueue(exclusive: true).isEmpty == false)
        var message = message(to: "q")
        message.setExchange("missing")
        let publish = #expect(throws: AMQPError.self) { try client.publishConfirmed(message) }
        #expect(publish?.replyCode == 404)
    }

    // MARK: What a lane meets

    @Test("a missing queue closes its own channel only, and others lose nothing")
    func missingQueueIsAlone() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(LiveBroker.name("alone"), exclusive: false)
        for number in 0..<200 { _ = try client.submit(message(to: queue, body: "\(number)")) }
        _ = try client.flush()
        let live = try LiveConnection()
        for channel: UInt16 in 1...3 { try live.session.openChannel(channel) }
        for channel: UInt16 in 1...3 {
            try live.session.setPrefetch(channel, count: 50)
            let name = channel == 2 ? "missing" : queue
            try live.session.startConsuming(channel, queue: name, consumerTag: "c\(channel)")
        }
        try live.wait(for: "channel 2's end") {
            if case .channelClosed(2, code: 404, _) = $0 { true } else { false }
        }
        try live.session.openChannel(2)
        for _ in 0..<200 {
            let event = try live.wait(for: "delivery") { if case .delivered = $0 { true } else { false } }
            guard case .delivered(let channel, let tag, _, _, _, _, _, _, _) = event else { continue }
            #expect(channel != 2)
            #expect(try live.session.acknowledge(channel: channel, deliveryTag: tag, multiple: false))
        }
        try live.wait(for: "channel 2") { $0 == .channelOpened(2) }
        live.connection.close(within: .seconds(2), delegate: live.recorder)
        #expect(try client.delete(queue: queue) == 0)
    }

    @Test("a consumer is told when its queue is deleted")
    func deletedQueue() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(LiveBroker.name("deleted"), exclusive: false, arguments: Self.quorum)
        let live = try LiveConnection()
        try live.openChannel(1)
        try live.session.startConsuming(1, queue: queue, consumerTag: "c")
        try live.wait(for: "consumer") { $0 == .consumeStarted(1, "c") }
        try client.delete(queue: queue)
        try live.wait(for: "cancel") { $0 == .consumeCancelled(1, "c", byBroker: true) }
        live.connection.close(within: .seconds(2), delegate: live.recorder)
    }

    @Test("a header table of 15,000 nested tables is survived on an ordinary stack, and refused by the reader")
    func nestedHeaders() throws {
        let queue = LiveBroker.name("nested")
        // The sender's table is nested objects, which take a large stack to build, to write and to let go.
        let sender = try LoopThread.start(name: "sender", stackSize: 64 << 20) {
            do {
                let client = try LiveBroker.client()
                defer { client.close() }
                _ = try client.declareQueue(queue, exclusive: false)
                var value = FieldValue.table(FieldTable())
                for _ in 1..<15_000 {
                    value = .table(FieldTable(entries: [.init(name: [UInt8(ascii: "n")], value: value)]))
                }
                var message = message(to: queue)
                message.addHeader(name: [UInt8(ascii: "n")].span, value: value)
                #expect(try client.publishConfirmed(message) == .confirmed)
            } catch {
                Issue.record(error)
            }
        }
        sender.join()
        let reader = try LoopThread.start(name: "reader", stackSize: 512 << 10) {
            do {
                let client = try LiveBroker.client()
                defer { client.close() }
                let got = try #require(try client.get(queue: queue))
                #expect(got.properties.count > 100_000)
                let headers = try #require(try MessagePropertyReader(got.bytes, got.properties).headers)
                #expect(throws: AMQPError.self) {
                    try FieldTable(reading: headers, in: got.bytes, maximumSize: 1 << 20)
                }
                try client.acknowledge(got)
                #expect(try client.delete(queue: queue) == 0)
            } catch {
                Issue.record(error)
            }
        }
        reader.join()
    }

    @Test("a header table that fills a frame is read on every redelivery")
    func fullHeaderFrame() throws {
        let client = try LiveBroker.client()
        defer { client.close() }
        let queue = try client.declareQueue(LiveBroker.name("full"), exclusive: false, arguments: Self.quorum)
        var message = message(to: queue, body: "after")
        message.addHeader(name: [UInt8(ascii: "x")].span, value: .bytes([UInt8](repeating: 1, count: 131_013)))
        #expect(message.headerBytes == 131_020)
        #expect(try client.publishConfirmed(message) == .confirmed)
        let live = try LiveConnection(consumes: true)
        try live.openChannel(1)
        try live.session.startConsuming(1, queue: queue, consumerTag: "c")
        for attempt in 0..<4 {
            try live.wait(for: "delivery \(attempt)") { if case .delivered = $0 { true } else { false } }
            let got = try #require(live.recorder.lastDelivery)
            #expect(got.redelivered == (attempt > 0))
            let headers = try #require(try MessagePropertyReader(got.bytes, got.properties).headers)
            #expect(headers.count >= 131_020 && (headers.count > 131_020) == (attempt > 0))
            if attempt > 0 {
                let table = try FieldTable(reading: headers, in: got.bytes, maximumSize: 1 << 20)
                #expect(table["x-delivery-count"] == .integer(Int64(attempt)))
            }
            #expect(try live.session.reject(channel: 1, deliveryTag: got.deliveryTag, requeue: true))
        }
        live.connection.close(within: .seconds(2), delegate: live.recorder)
        try client.delete(queue: queue)
    }
}
