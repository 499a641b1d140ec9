import FoundationEssentials
import Testing
import Text

@testable import APNSSimulator

@Suite("The delivery log", .timeLimit(.minutes(1)))
struct DeliveryLogTests {
    private func notification(_ number: UInt64, at time: Int64) -> StoredNotification {
        StoredNotification(
            id: UUIDBytes(high: 0, low: number), uniqueID: UUIDBytes(high: 9, low: number), app: "a", topic: "a",
            type: "alert", priority: 10, acceptedAt: time, deadline: time, payload: .init())
    }

    private let device = DeviceID(UUIDBytes(high: 1, low: 1))

    @Test("Events stand in order, up to a limit")
    func events() {
        var log = DeliveryLog()
        let one = notification(1, at: 0)
        log.record(.received, of: one, for: device, now: 0)
        for time in 1..<100 { log.record(.sent, of: one, for: device, now: Int64(time)) }
        let entry = log.entry(one.uniqueID)
        #expect(entry?.events.count == DeliveryLog.eventLimit)
        #expect(entry?.events.first == DeliveryLog.Event(state: .received, device: device, time: 0))
        #expect(log.entry(UUIDBytes(high: 0, low: 1)) == nil)
    }

    @Test("Entries go after seven days, and the oldest where there are too many")
    func retention() {
        var log = DeliveryLog()
        log.record(.received, of: notification(1, at: 0), for: device, now: 0)
        log.record(.received, of: notification(2, at: 10), for: device, now: 10)
        log.record(.received, of: notification(3, at: 1), for: device, now: DeliveryLog.retention + 5)
        #expect(log.entry(UUIDBytes(high: 9, low: 1)) == nil)
        #expect(log.entry(UUIDBytes(high: 9, low: 2)) != nil)
        var full = DeliveryLog()
        let count = UInt64(DeliveryLog.entryLimit)
        for number in 1...(count + 2) { full.record(.received, of: notification(number, at: 5), for: device, now: 5) }
        #expect(full.entry(UUIDBytes(high: 9, low: 2)) == nil)
        #expect(full.entry(UUIDBytes(high: 9, low: 3)) != nil)
        #expect(full.entry(UUIDBytes(high: 9, low: count + 2)) != nil)
    }

    @Test("The newest notifications of a device are found, and their last state")
    func recent() {
        var recent = RecentNotifications()
        for number in 1...UInt64(RecentNotifications.limit + 10) {
            for state in [DeliveryState.received, .delivered] {
                recent.note(
                    RecentNotifications.Entry(
                        device: device, notification: notification(number, at: 0), state: state, time: 0))
            }
        }
        let newest = recent.newest(of: device, count: 2)
        let last = UInt64(RecentNotifications.limit + 10)
        #expect(newest.map(\.notification.id.low) == [last - 1, last])
        #expect(newest.map(\.state) == [.delivered, .delivered])
        #expect(recent.newest(of: device, count: .max).count == RecentNotifications.limit)
        #expect(recent.newest(of: .random()).isEmpty)
    }
}
