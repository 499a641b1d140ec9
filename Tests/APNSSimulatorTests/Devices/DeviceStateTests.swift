import FoundationEssentials
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("What the device side knows", .timeLimit(.minutes(1)))
struct DeviceStateTests {
    private let app = "com.example.app"
    private let device = DeviceID(UUIDBytes(high: 1, low: 2))

    /// A state that knows one device, which is offline.
    private func state() throws -> DeviceState {
        var state = DeviceState(
            registry: DeviceRegistry(), store: NotificationStore(), log: DeliveryLog(),
            broadcastChannels: BroadcastChannelRegistry(environment: .development),
            tokens: DeviceTokenCodec(key: try SealingKey.generate()), events: EventHub())
        let isKnown = state.activate(device, name: "phone", now: 1)
        #expect(isKnown)
        return state
    }

    private func notification(_ number: UInt64, broadcastChannel: String? = nil) -> StoredNotification {
        StoredNotification(
            id: UUIDBytes(high: 3, low: number), uniqueID: UUIDBytes(high: 4, low: number), app: app, topic: app,
            broadcastChannel: broadcastChannel, type: "alert", priority: 10, acceptedAt: 5, deadline: 100,
            payload: .init())
    }

    @Test("A notification for a device that is offline waits, and its story is still to be written")
    func accept() throws {
        var state = try state()
        #expect(state.unsaved.devices == [device] && state.unwritten.isEmpty)
        state.accept(Arrival(notification: notification(1), device: device))
        #expect(state.store.held == 1 && !state.unwritten.isEmpty)
        let story = state.log.entry(UUIDBytes(high: 4, low: 1))?.events.map(\.state)
        #expect(story == [.received, .storedOffline])
    }

    @Test("A device that listens to a broadcast channel gets the latest message once, and none that is out of date")
    func subscribe() throws {
        var state = try state()
        var random = SystemRandomNumberGenerator()
        let made = state.broadcastChannels.create(app: app, isStoring: true, random: &random, now: 1)
        let address = BroadcastChannelAddress(app: app, identifier: try #require(made))
        state.broadcastChannels.keep(notification(1, broadcastChannel: address.identifier), for: address)
        let late = try state.subscribe(device, to: address, now: 10)
        #expect(late?.notification.uniqueID.low == 1 && late?.time == 10 && late?.device == device)
        let again = try state.subscribe(device, to: address, now: 11)
        #expect(again == nil && state.listeners(to: address) == [device])
        state.unsubscribe(device, from: address)
        #expect(state.listeners(to: address).isEmpty)
        let tooLate = try state.subscribe(device, to: address, now: 100)
        #expect(tooLate == nil && state.listeners(to: address) == [device])
    }

    @Test("A broadcast channel that does not exist is a complaint, and changes nothing")
    func unknownBroadcastChannel() throws {
        var state = try state()
        do throws(DeviceComplaint) {
            _ = try state.subscribe(device, to: BroadcastChannelAddress(app: app, identifier: "x"), now: 10)
            Issue.record("there is no such broadcast channel")
        } catch {
            #expect(error.text.contains("no such broadcast channel"))
        }
        #expect(state.registry.devices[device]?.subscriptions == [])
    }

    @Test("The topics of an app that is uninstalled end, and what waits for them")
    func end() throws {
        var state = try state()
        let registration = state.register(device, topic: app, environment: .development, now: 2_000)
        #expect(registration?.isActive == true)
        state.accept(Arrival(notification: notification(1), device: device))
        state.end(device, app: app, now: 3_000)
        #expect(state.registry.devices[device]?.registrations.first?.isActive == false)
        #expect(state.store.held == 0)
    }
}
