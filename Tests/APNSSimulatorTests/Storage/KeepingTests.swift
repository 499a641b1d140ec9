import Foundation
import Synchronization
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("What the state directory does not take", .timeLimit(.minutes(1)))
struct KeepingTests {
    private let app = "com.example.app"

    private func with(_ body: (RunningSimulator, DeviceService, String) async throws -> Void) async throws {
        try await SimulatorBench.with({
            $0.devices.port = 0
            $0.devices.storesAll = true
            $0.streams = .fixed(100)
        }) { simulator in
            let directory = String(simulator.authorityFile.dropLast("/ca.pem".count))
            try await body(simulator, try #require(simulator.devices), directory)
        }
    }

    /// Puts a directory where a file is to be written, so that nobody can write it, root included.
    private func block(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: "\(path)/full", withIntermediateDirectories: true)
    }

    private func unblock(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    private func frame(_ kind: DeviceFrame.Kind, broadcastChannel: String? = nil) -> DeviceFrame {
        var frame = DeviceFrame(kind)
        frame.app = app
        frame.broadcastChannel = broadcastChannel
        return frame
    }

    private func activate(_ devices: DeviceService) throws -> DeviceID {
        let answer = devices.responder.activate(DeviceFrame(.activate))
        let text = try #require(answer.device)
        return DeviceID(try #require(UUIDBytes.parse(text)))
    }

    private func publish(_ number: Int, to channelID: String, _ devices: DeviceService) throws -> Bool {
        let now = devices.clock()
        let unique = UUIDBytes(high: 77, low: UInt64(number))
        return devices.broadcastChannels.publish(
            BroadcastRules.Message(priority: 10, expiration: now / 1000 + 600), payload: Array("\(number)".utf8),
            to: try #require(devices.broadcastChannels.find(BroadcastChannelAddress(app: app, identifier: channelID))),
            id: unique,
            uniqueID: unique, now: now)
    }

    @Test("A device is told that its activation, token or end is not kept, and nobody is left behind")
    func devices() async throws {
        try await with { _, devices, directory in
            let device = try activate(devices)
            let archive = "\(directory)/devices"
            try FileManager.default.moveItem(atPath: archive, toPath: "\(archive)-away")
            try Data().write(to: URL(filePath: archive))
            #expect(devices.responder.activate(DeviceFrame(.activate)).frame == .error)
            #expect(devices.storage.state.withLock { $0.registry.devices.count } == 1)
            #expect(devices.responder.answer(frame(.register), from: device, link: 0)?.frame == .error)
            #expect(devices.responder.answer(frame(.uninstall), from: device, link: 0)?.frame == .error)
            try unblock(archive)
            try FileManager.default.moveItem(atPath: "\(archive)-away", toPath: archive)
            #expect(devices.responder.answer(frame(.register), from: device, link: 0)?.frame == .token)
            let kept = try DeviceArchive(in: try StateDirectory(directory)).load()
            #expect(kept.map(\.id) == [device.value])
            #expect(kept.first?.registrations.first?.isActive == true)
        }
    }

    @Test("A broadcast channel that cannot be written is not made, and one whose end cannot be written stays")
    func broadcastChannels() async throws {
        try await with { _, devices, directory in
            let channelID = try #require(try devices.broadcastChannels.create(app: app, isStoring: true, now: 1))
            let draft = "\(directory)/channels.json.new"
            try block(draft)
            #expect(throws: SimulatorError.self) {
                try devices.broadcastChannels.create(app: app, isStoring: true, now: 1)
            }
            let address = BroadcastChannelAddress(app: app, identifier: channelID)
            #expect(throws: SimulatorError.self) { try devices.broadcastChannels.delete(address) }
            #expect(devices.broadcastChannels.identifiers(of: app) == [channelID])
            try unblock(draft)
            #expect(try devices.broadcastChannels.delete(address))
            #expect(try DeviceArchive(in: try StateDirectory(directory)).loadBroadcastChannels() == [])
        }
    }

    @Test("A refused broadcast leaves the broadcast channel's latest message as it was", arguments: [true, false])
    func latest(_ blocksBroadcastChannels: Bool) async throws {
        try await with { _, devices, directory in
            let channelID = try #require(try devices.broadcastChannels.create(app: app, isStoring: true, now: 1))
            let address = BroadcastChannelAddress(app: app, identifier: channelID)
            let device = try activate(devices)
            let subscribe = frame(.subscribe, broadcastChannel: channelID)
            #expect(devices.responder.answer(subscribe, from: device, link: 0)?.frame == .done)
            #expect(try publish(1, to: channelID, devices))
            // Nothing is left to be written between the two steps that follow.
            #expect(devices.storage.save())
            let path = "\(directory)/\(blocksBroadcastChannels ? "channels.json.new" : NotificationJournal.name)"
            if !blocksBroadcastChannels { try FileManager.default.removeItem(atPath: path) }
            try block(path)
            #expect(try !publish(2, to: channelID, devices))
            #expect(devices.broadcastChannels.find(address)?.latest?.uniqueID.low == 1)
            try unblock(path)
            #expect(devices.storage.save())
            let kept = try DeviceArchive(in: try StateDirectory(directory)).loadBroadcastChannels()
            #expect(kept.first?.latest?.uniqueID.low == 1)
        }
    }

    @Test("A broadcast channel's message is kept for the device that comes late; where it cannot be, neither listens")
    func subscribe() async throws {
        try await with { _, devices, directory in
            let channelID = try #require(try devices.broadcastChannels.create(app: app, isStoring: true, now: 1))
            let device = try activate(devices)
            #expect(try publish(1, to: channelID, devices))
            #expect(devices.storage.save())
            let path = "\(directory)/\(NotificationJournal.name)"
            try block(path)
            let subscribe = frame(.subscribe, broadcastChannel: channelID)
            #expect(devices.responder.answer(subscribe, from: device, link: 0)?.frame == .error)
            #expect(devices.storage.state.withLock { $0.registry.devices[device]?.subscriptions } == [])
            try unblock(path)
            #expect(devices.responder.answer(subscribe, from: device, link: 0)?.frame == .done)
            var journal = NotificationJournal(in: try StateDirectory(directory))
            #expect(try journal.load().waiting[device]?.map(\.uniqueID.low) == [1])
            let kept = try DeviceArchive(in: try StateDirectory(directory)).load()
            #expect(kept.first?.subscriptions.map(\.identifier) == [channelID])
        }
    }

    @Test("While the disk is full, what waits to be written has a limit, and nothing of it is lost")
    func memory() async throws {
        try await with { _, devices, directory in
            let path = "\(directory)/\(NotificationJournal.name)"
            try block(path)
            let batch = 1000
            let device = DeviceID(UUIDBytes(high: 1, low: 1))
            var most = 0
            for round in 0..<50 {
                let arrivals = (0..<batch).map { index in
                    let id = UUIDBytes(high: 5, low: UInt64(round * batch + index))
                    return Arrival(
                        notification: StoredNotification(
                            id: id, uniqueID: id, app: app, topic: app, type: "alert", priority: 10, collapseID: nil,
                            acceptedAt: devices.clock(), deadline: 0, payload: Data("{}".utf8)),
                        device: device)
                }
                #expect(devices.storage.take(arrivals))
                most = max(most, devices.storage.state.withLock { $0.unwritten.count })
            }
            #expect(most > 0 && most <= UnwrittenLines.limit + batch * 1000)
            try unblock(path)
            #expect(devices.storage.save())
            // Received and expired, a line each.
            let lines = try Data(contentsOf: URL(filePath: path)).count { $0 == UInt8(ascii: "\n") }
            #expect(lines == 2 * 50 * batch)
        }
    }

    @Test("Pushes that come together keep their order, whether they may wait or not")
    func order() async throws {
        let maker = try TokenMaker()
        try await with { simulator, _, _ in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            let pushes = try (0..<20).map { number in
                try SimulatorBench.push(maker).token(token).type("alert", topic: app)
                    .with("apns-expiration", number % 2 == 0 ? nil : "0").payload("{\"n\":\(number)}")
            }
            let client = try RawClient(simulator)
            let tags = try client.send(pushes)
            try client.wait { tags.allSatisfy { client.answers[$0]?.closure != nil } }
            #expect(tags.allSatisfy { client.answers[$0]?.status == 200 })
            for number in 0..<20 { #expect(try await device.notification().payload == "{\"n\":\(number)}") }
            await device.quit()
        }
    }
}
