import Testing

@testable import BrokerClient
@testable import RabbitMQ

@Suite("Deliveries that nobody has taken yet", .timeLimit(.minutes(1)))
struct ReceivedDeliveriesTests {
    private func delivery(_ tag: UInt64, bytes: Int = 1) -> Delivery {
        Delivery(
            channel: 1, deliveryTag: tag, redelivered: false, bytes: [UInt8](repeating: 0, count: bytes),
            exchange: 0..<0, routingKey: 0..<0, properties: 0..<0, body: 0..<bytes, bodySize: UInt64(bytes),
            isTruncated: false)
    }

    @Test("They are taken in their order, however many there are")
    func order() {
        var received = ReceivedDeliveries()
        var (next, taken) = (UInt64(0), [UInt64]())
        for _ in 0..<50 {
            for _ in 0..<100 {
                next += 1
                received.append(delivery(next))
            }
            for _ in 0..<70 { taken += [received.takeFirst()?.deliveryTag ?? 0] }
        }
        while let delivery = received.takeFirst() { taken.append(delivery.deliveryTag) }
        #expect(taken == Array(1...next) && received.isEmpty && received.takeLast() == nil)
        received.append(delivery(7))
        received.append(delivery(8))
        #expect(received.takeLast()?.deliveryTag == 8 && received.takeFirst()?.deliveryTag == 7 && received.isEmpty)
    }

    @Test("Beyond the limit of bytes they are dropped, and that is noticed; one is kept, whatever its size")
    func limit() {
        var received = ReceivedDeliveries()
        let half = ReceivedDeliveries.mostBytes / 2
        for tag in 1...2 { received.append(delivery(UInt64(tag), bytes: half)) }
        #expect(!received.hasOverflowed)
        received.append(delivery(3))
        #expect(received.hasOverflowed && received.takeFirst()?.deliveryTag == 1)
        var large = ReceivedDeliveries()
        large.append(delivery(1, bytes: 3 * half))
        #expect(!large.hasOverflowed && large.takeFirst()?.deliveryTag == 1)
    }

    @Test("While consumers are cancelled, what comes is dropped; what came before is kept")
    func closed() {
        var received = ReceivedDeliveries()
        received.append(delivery(1))
        received.isClosed = true
        for tag in 2...9 { received.append(delivery(UInt64(tag))) }
        #expect(received.takeFirst()?.deliveryTag == 1 && received.isEmpty && !received.hasOverflowed)
    }
}
