import FoundationEssentials
import Testing
import Text

@testable import APNSSimulator

@Suite("Store and forward", .timeLimit(.minutes(1)))
struct NotificationStoreTests {
    static let start: Int64 = 1_800_000_000_000
    static let day: Int64 = 86_400_000
    let device = DeviceID(UUIDBytes(high: 1, low: 1))

    private func push(
        _ number: UInt64, app: String = "com.example.app", priority: Int = 10, collapse: String? = nil,
        expiration: Int64? = nil, at time: Int64 = start, broadcastChannel: String? = nil
    ) -> StoredNotification {
        StoredNotification(
            id: UUIDBytes(high: 0, low: number), uniqueID: UUIDBytes(high: 9, low: number), app: app, topic: app,
            broadcastChannel: broadcastChannel, type: "alert", priority: priority, collapseID: collapse,
            acceptedAt: time, deadline: StoredNotification.deadline(expiration: expiration, now: time),
            payload: .init())
    }

    /// What was sent, by number.
    private func sent(_ actions: [NotificationStore.Action]) -> [UInt64] {
        actions.compactMap { if case .send(_, let delivery) = $0 { delivery.notification.id.low } else { nil } }
    }

    /// What was written down about a notification.
    private func log(_ actions: [NotificationStore.Action], _ number: UInt64) -> [DeliveryState] {
        actions.compactMap { action in
            guard case .log(let notification, let state, _) = action, notification.id.low == number else { return nil }
            return state
        }
    }

    private func deliveries(_ actions: [NotificationStore.Action]) -> [Int64] {
        actions.compactMap { if case .send(_, let delivery) = $0 { delivery.number } else { nil } }
    }

    @Test("An online device is sent everything at once, and its acknowledgement is the delivery")
    func online() {
        var store = NotificationStore()
        #expect(store.connected(device, power: .normal, now: Self.start) == [])
        for (number, priority) in [(UInt64(1), 10), (2, 5), (3, 1)] {
            let actions = store.accept(push(number, priority: priority), for: device, now: Self.start)
            #expect(sent(actions) == [number])
            #expect(log(actions, number) == [.received, .sent])
            let done = store.acknowledged(deliveries(actions)[0], by: device, now: Self.start + 5)
            #expect(log(done, number) == [.delivered])
        }
        #expect(store.unsettled(for: device).isEmpty)
        #expect(store.acknowledged(99, by: device, now: Self.start) == [])
    }

    @Test("For an offline device the newest notification of each app waits")
    func latest() {
        var store = NotificationStore(policy: .latest)
        #expect(log(store.accept(push(1), for: device, now: Self.start), 1) == [.received, .storedOffline])
        let second = store.accept(push(2), for: device, now: Self.start + 1)
        #expect(log(second, 1) == [.overwritten])
        #expect(log(second, 2) == [.received, .storedOffline])
        _ = store.accept(push(3, app: "com.example.other"), for: device, now: Self.start + 2)
        #expect(sent(store.connected(device, power: .normal, now: Self.start + 10)) == [2, 3])
    }

    @Test("The other reading keeps all of them, in order, up to a limit")
    func all() {
        var store = NotificationStore(policy: .all)
        let count = UInt64(NotificationStore.waitingLimit) + 5
        for number in 1...count { _ = store.accept(push(number), for: device, now: Self.start) }
        #expect(store.unsettled(for: device).map(\.id.low) == Array(6...count))
        let first = store.connected(device, power: .normal, now: Self.start + 1)
        #expect(sent(first) == Array(6..<(6 + UInt64(NotificationStore.inFlightLimit))))
        var actions = first
        var arrived = sent(first)
        while let number = deliveries(actions).first {
            actions.removeAll { if case .send(_, let delivery) = $0 { delivery.number == number } else { false } }
            let next = store.acknowledged(number, by: device, now: Self.start + 2)
            arrived += sent(next)
            actions += next
        }
        #expect(arrived == Array(6...count))
    }

    @Test(
        "The expiration decides how long a notification waits",
        arguments: [
            (nil, 30 * day), (0, 0), (300, 0), (1_800_000_060, 60_000), (1_800_000_000 + 86_400 * 365, 30 * day),
            (Int64.max, 30 * day),
        ] as [(Int64?, Int64)])
    func expiration(_ expiration: Int64?, _ waits: Int64) {
        var store = NotificationStore()
        let actions = store.accept(push(1, expiration: expiration), for: device, now: Self.start)
        guard waits > 0 else {
            #expect(log(actions, 1) == [.received, .expired])
            #expect(store.connected(device, power: .normal, now: Self.start) == [])
            return
        }
        #expect(log(actions, 1) == [.received, .storedOffline])
        #expect(store.nextDeadline == Self.start + waits)
        var early = store
        #expect(early.tick(now: Self.start + waits - 1) == [])
        #expect(sent(early.connected(device, power: .normal, now: Self.start + waits - 1)) == [1])
        #expect(log(store.tick(now: Self.start + waits), 1) == [.expired])
        #expect(store.nextDeadline == nil)
        #expect(store.connected(device, power: .normal, now: Self.start + waits) == [])
    }

    @Test("Expiration 0 still reaches a device that is there")
    func onlyNow() {
        var store = NotificationStore()
        _ = store.connected(device, power: .normal, now: Self.start)
        #expect(sent(store.accept(push(1, expiration: 0), for: device, now: Self.start)) == [1])
        #expect(log(store.disconnected(device, now: Self.start + 1), 1) == [.expired])
    }

    @Test("What was sent and not acknowledged waits again when the device is gone; newer ones win")
    func unacknowledged() {
        var store = NotificationStore()
        _ = store.connected(device, power: .normal, now: Self.start)
        _ = store.accept(push(1), for: device, now: Self.start)
        _ = store.accept(push(2), for: device, now: Self.start)
        let gone = store.disconnected(device, now: Self.start + 1)
        #expect(log(gone, 1) == [.storedOffline, .overwritten])
        #expect(log(gone, 2) == [.storedOffline])
        #expect(store.unsettled(for: device).map(\.id.low) == [2])
        #expect(log(store.accept(push(3), for: device, now: Self.start + 2), 2) == [.overwritten])
        #expect(sent(store.connected(device, power: .normal, now: Self.start + 3)) == [3])
        #expect(sent(store.connected(device, power: .normal, now: Self.start + 4)) == [3])
    }

    @Test("The same collapse identifier replaces, in the same app only, whatever the policy")
    func collapse() {
        var store = NotificationStore(policy: .all)
        _ = store.accept(push(1, collapse: "score"), for: device, now: Self.start)
        _ = store.accept(push(2), for: device, now: Self.start)
        _ = store.accept(push(3, app: "com.example.other", collapse: "score"), for: device, now: Self.start)
        let actions = store.accept(push(4, collapse: "score"), for: device, now: Self.start)
        #expect(log(actions, 1) == [.coalesced])
        #expect(sent(store.connected(device, power: .normal, now: Self.start)) == [2, 3, 4])
    }

    @Test("A device that saves power gets 10 at once, 5 in groups, and 1 when it no longer does")
    func power() {
        var store = NotificationStore(policy: .all)
        _ = store.connected(device, power: .low, now: Self.start)
        #expect(sent(store.accept(push(1, priority: 10), for: device, now: Self.start)) == [1])
        let held = store.accept(push(2, priority: 5), for: device, now: Self.start)
        #expect(log(held, 2) == [.received, .storedPower])
        _ = store.accept(push(3, priority: 1), for: device, now: Self.start + 1)
        _ = store.accept(push(4, priority: 5), for: device, now: Self.start + 2)
        let due = Self.start + NotificationStore.groupInterval
        #expect(store.nextDeadline == due)
        #expect(store.tick(now: due - 1) == [])
        #expect(sent(store.tick(now: due)) == [2, 4])
        #expect(sent(store.tick(now: due + 10 * NotificationStore.groupInterval)) == [])
        #expect(sent(store.powerChanged(device, to: .normal, now: due + 1)) == [3])
    }

    @Test("Expiration 0 does not wait for power")
    func powerAndExpiration() {
        var store = NotificationStore()
        _ = store.connected(device, power: .low, now: Self.start)
        let actions = store.accept(push(1, priority: 5, expiration: 0), for: device, now: Self.start)
        #expect(log(actions, 1) == [.received, .expired])
    }

    @Test("When a token dies, what waited for it or was on its way is discarded")
    func tokenDied() {
        var store = NotificationStore(policy: .all)
        _ = store.accept(push(1), for: device, now: Self.start)
        _ = store.accept(push(2, app: "com.example.other"), for: device, now: Self.start)
        _ = store.accept(push(3, broadcastChannel: "c"), for: device, now: Self.start)
        let died = store.tokensDied(device, topics: ["com.example.app"], apps: ["com.example.app"])
        #expect(log(died, 1) == [.tokenInactive])
        #expect(log(died, 3) == [.tokenInactive])
        #expect(sent(store.connected(device, power: .normal, now: Self.start)) == [2])
        #expect(log(store.tokensDied(device, topics: ["com.example.other"]), 2) == [.tokenInactive])
        #expect(store.unsettled(for: device).isEmpty)
    }

    @Test("Nothing waits for an app whose notifications are switched off")
    func disabled() {
        var store = NotificationStore()
        let actions = store.accept(push(1), for: device, isSilenced: true, now: Self.start)
        #expect(log(actions, 1) == [.received, .disabled])
        #expect(store.unsettled(for: device).isEmpty)
    }

    @Test("A broadcast has a place of its own beside the app's pushes, one per broadcast channel")
    func broadcastChannels() {
        var store = NotificationStore(policy: .latest)
        _ = store.accept(push(1), for: device, now: Self.start)
        _ = store.accept(push(2, broadcastChannel: "a"), for: device, now: Self.start)
        _ = store.accept(push(3, broadcastChannel: "b"), for: device, now: Self.start)
        _ = store.accept(push(4, broadcastChannel: "a"), for: device, now: Self.start)
        #expect(sent(store.connected(device, power: .normal, now: Self.start)) == [1, 3, 4])
    }

    @Test("A device that does not acknowledge gets no more than a limit at a time")
    func inFlight() {
        var store = NotificationStore(policy: .latest)
        _ = store.connected(device, power: .normal, now: Self.start)
        let limit = UInt64(NotificationStore.inFlightLimit)
        for number in 1...limit { _ = store.accept(push(number), for: device, now: Self.start) }
        let busy = store.accept(push(limit + 1), for: device, now: Self.start)
        #expect(log(busy, limit + 1) == [.received, .storedBusy])
        #expect(sent(store.acknowledged(1, by: device, now: Self.start)) == [limit + 1])
    }

    @Test("What was kept across a restart is delivered")
    func restored() {
        var store = NotificationStore()
        let kept = [push(1), push(2, app: "com.example.other")]
        #expect(store.restore(kept, for: device, now: Self.start).isEmpty)
        #expect(store.nextDeadline == Self.start + 30 * Self.day)
        #expect(sent(store.connected(device, power: .normal, now: Self.start)) == [1, 2])
    }

    @Test("Of several for one app that were on their way at a crash, the newest waits")
    func restoredAfterCrash() {
        var store = NotificationStore()
        let actions = store.restore([push(1), push(2), push(3)], for: device, now: Self.start)
        #expect(log(actions, 1) == [.overwritten] && log(actions, 2) == [.overwritten] && log(actions, 3) == [])
        #expect(sent(store.connected(device, power: .normal, now: Self.start)) == [3])
        var all = NotificationStore(policy: .all)
        _ = all.restore([push(1), push(2), push(3)], for: device, now: Self.start)
        #expect(sent(all.connected(device, power: .normal, now: Self.start)) == [1, 2, 3])
    }
}
