import EventLoop
import Foundation
import HTTP2
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("Devices of a running simulator", .timeLimit(.minutes(1)))
struct DeviceTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        try await SimulatorBench.with(
            {
                $0.devices.port = 0
                $0.streams = .fixed(100)
                change(&$0)
            }, body)
    }

    private func push(_ token: String, topic: String = "com.example.app", type: String = "alert") throws
        -> RequestBuilder
    {
        try SimulatorBench.push(maker).token(token).type(type, topic: topic)
    }

    @Test("A device activates, registers and receives a push; its acknowledgement is in the delivery log")
    func delivery() async throws {
        try await with { simulator in
            let device = try TestDevice(simulator)
            let name = try await device.next { if case .activated(let name) = $0 { name } else { nil } }
            #expect(try await device.online() == name)
            let token = try await device.token()
            let client = try RawClient(simulator)
            let answer = try client.exchange(
                push(token).with("apns-priority", "5").with("apns-collapse-id", "x").payload(#"{"aps":{"alert":"hé"}}"#)
            )
            #expect(answer.status == 200)
            let frame = try await device.notification()
            #expect(frame.id == answer.headers["apns-id"])
            #expect(frame.app == "com.example.app")
            #expect(frame.priority == 5)
            #expect(frame.collapseID == "x")
            #expect(frame.pushType == "alert")
            #expect(frame.payload == #"{"aps":{"alert":"hé"}}"#)
            await device.quit()
            let uniqueID = try #require(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? ""))
            // The acknowledgement may still be on its way when the device is gone.
            try await waitFor { simulator.devices?.delivery(uniqueID)?.events.count == 3 }
            let log = try #require(simulator.devices?.delivery(uniqueID))
            #expect(log.events.map(\.state) == ["received", "sent", "delivered"])
            #expect(log.events.last?.device == name)
        }
    }

    @Test("Tokens differ by app, kind, environment and device, and each takes its own topic only")
    func scopes() async throws {
        try await with { simulator in
            let apps: [DeviceClientConfiguration.App] = [
                .init("com.example.app"), .init("com.example.app", kind: "voip"), .init("com.example.other"),
            ]
            let device = try TestDevice(simulator, apps: apps)
            let app = try await device.token()
            let voip = try await device.token("com.example.app.voip")
            let other = try await device.token("com.example.other")
            let foreign = try TestDevice(simulator) { $0.environment = "production" }
            let production = try await foreign.token()
            #expect(Set([app, voip, other, production]).count == 4)
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(app)).status == 200)
            #expect(try client.exchange(push(voip, topic: "com.example.app.voip", type: "voip")).status == 200)
            #expect(try client.exchange(push(app, type: "background")).status == 200)
            for (token, topic, type) in [
                (app, "com.example.other", "alert"), (app, "com.example.app.voip", "voip"),
                (voip, "com.example.app", "alert"), (other, "com.example.app", "alert"),
            ] {
                let answer = try client.exchange(push(token, topic: topic, type: type))
                #expect(answer.status == 400)
                #expect(answer.reason == "DeviceTokenNotForTopic")
            }
            #expect(try client.exchange(push(production)).reason == "BadDeviceToken")
            await device.quit()
            await foreign.quit()
        }
    }

    @Test("After uninstalling, pushes get 410 with the true time, and reinstalling gives another token")
    func uninstall() async throws {
        let clock = TestClock()
        try await with({ $0.devices.clock = { clock.now } }) { simulator in
            let device = try TestDevice(simulator)
            let first = try await device.token()
            let before = clock.now
            device.tell(.uninstall(app: "com.example.app"))
            try await device.done("uninstalled com.example.app")
            let after = clock.now
            let client = try RawClient(simulator)
            let gone = try client.exchange(push(first))
            #expect(gone.status == 410)
            #expect(gone.reason == "Unregistered")
            let time = try #require(Int64(gone.body.split(separator: ":").last?.dropLast() ?? ""))
            #expect((before...after).contains(time))
            device.tell(.reinstall(app: "com.example.app"))
            let second = try await device.token()
            #expect(second != first)
            #expect(try client.exchange(push(second)).status == 200)
            #expect(try client.exchange(push(first)).body == gone.body)
            device.tell(.restore)
            let third = try await device.token()
            #expect(try client.exchange(push(second)).reason == "Unregistered")
            #expect(try client.exchange(push(third)).status == 200)
            await device.quit()
        }
    }

    @Test("A token that has aged out gets 410 ExpiredToken, with its time")
    func expired() async throws {
        try await with({ $0.devices.tokenLifetime = 1 }) { simulator in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            let client = try RawClient(simulator)
            var answer = try client.exchange(push(token))
            while answer.status == 200 { answer = try client.exchange(push(token)) }
            #expect(answer.status == 410)
            #expect(answer.reason == "ExpiredToken")
            #expect(answer.body.contains("timestamp"))
            await device.quit()
        }
    }

    @Test("Made-up tokens are taken as ever, unless only issued ones are")
    func madeUp() async throws {
        try await with { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(RequestBuilder.token)).status == 200)
            #expect(try client.exchange(push(String(repeating: "ab", count: 100))).status == 200)
        }
        try await with({ $0.devices.demandsIssuedTokens = true }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(RequestBuilder.token)).reason == "BadDeviceToken")
            let device = try TestDevice(simulator)
            let token = try await device.token()
            #expect(try client.exchange(push(token)).status == 200)
            var forged = Array(token.utf8)
            forged[forged.count - 1] ^= 1
            #expect(try client.exchange(push(String(decoding: forged, as: UTF8.self))).reason == "BadDeviceToken")
            await device.quit()
        }
    }

    @Test("An offline device gets the newest notification of each app when it comes back")
    func offline() async throws {
        try await with { simulator in
            let device = try TestDevice(simulator, apps: [.init("com.example.app"), .init("com.example.other")])
            let token = try await device.token()
            let other = try await device.token("com.example.other")
            device.tell(.offline)
            try await device.offline()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            let client = try RawClient(simulator)
            for text in ["one", "two", "three"] {
                #expect(try client.exchange(push(token).payload("{\"n\":\"\(text)\"}")).status == 200)
            }
            let now = try client.exchange(push(token).with("apns-expiration", "0").payload(#"{"n":"never"}"#))
            #expect(now.status == 200)
            let fourth = try push(other, topic: "com.example.other").payload(#"{"n":"four"}"#)
            #expect(try client.exchange(fourth).status == 200)
            device.tell(.online)
            #expect(try await device.notification().payload == #"{"n":"three"}"#)
            #expect(try await device.notification().payload == #"{"n":"four"}"#)
            await device.quit()
        }
    }

    @Test("A device that was uninstalled while offline is told of nothing more")
    func uninstalledOffline() async throws {
        try await with { simulator in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            device.tell(.offline)
            try await device.offline()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            let client = try RawClient(simulator)
            let answer = try client.exchange(push(token))
            #expect(answer.status == 200)
            device.tell(.uninstall(app: "com.example.app"))
            device.tell(.online)
            _ = try await device.online()
            #expect(try client.exchange(push(token)).reason == "Unregistered")
            let uniqueID = try #require(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? ""))
            let states = simulator.devices?.delivery(uniqueID)?.events.map(\.state)
            #expect(states == ["received", "stored: device offline", "discarded: token inactive"])
            await device.quit()
        }
    }

    @Test("Muted apps get nothing, and pushes to them are still accepted")
    func muted() async throws {
        try await with { simulator in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            device.tell(.mute(app: "com.example.app"))
            try await device.done("muted com.example.app")
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(token).payload(#"{"n":1}"#)).status == 200)
            device.tell(.unmute(app: "com.example.app"))
            try await device.done("unmuted com.example.app")
            #expect(try client.exchange(push(token).payload(#"{"n":2}"#)).status == 200)
            #expect(try await device.notification().payload == #"{"n":2}"#)
            await device.quit()
        }
    }

    @Test("Devices, tokens and what waits survive a restart; a device finds its way back by itself")
    func restart() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "restart-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var token = ""
        var place = ""
        var gone = ""
        try await with({ $0.stateDirectory = directory }) { simulator in
            let device = try TestDevice(simulator, apps: [.init("com.example.app"), .init("com.example.gone")])
            token = try await device.token()
            gone = try await device.token("com.example.gone")
            device.tell(.uninstall(app: "com.example.gone"))
            try await device.done("uninstalled com.example.gone")
            place = device.directory
            await device.quit()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            #expect(try RawClient(simulator).exchange(push(token).payload(#"{"n":"kept"}"#)).status == 200)
        }
        try await with({ $0.stateDirectory = directory }) { simulator in
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(gone, topic: "com.example.gone")).reason == "Unregistered")
            let device = try TestDevice(simulator, directory: place)
            #expect(try await device.notification().payload == #"{"n":"kept"}"#)
            #expect(try await device.token() == token)
            #expect(try client.exchange(push(token)).status == 200)
            await device.quit()
        }
    }

    @Test("What waits longer than its time is discarded, in virtual time, and the log says so")
    func expiry() async throws {
        try await with { simulator in
            let device = try TestDevice(simulator)
            let token = try await device.token()
            device.tell(.offline)
            try await device.offline()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            let answer = try RawClient(simulator).exchange(push(token))
            let uniqueID = try #require(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? ""))
            simulator.control.advanceClock(milliseconds: 29 * 86_400_000)
            simulator.devices?.tick()
            #expect(simulator.devices?.delivery(uniqueID)?.events.last?.state == "stored: device offline")
            simulator.control.advanceClock(milliseconds: 86_400_000 + 1)
            simulator.devices?.tick()
            #expect(simulator.devices?.delivery(uniqueID)?.events.last?.state == "discarded: expired")
            await device.quit()
        }
    }

    @Test("A device that saves power gets priority 5 as a group, and priority 1 when it no longer does")
    func power() async throws {
        let clock = TestClock()
        try await with({
            $0.devices.clock = { clock.now }
            $0.devices.storesAll = true
        }) { simulator in
            let device = try TestDevice(simulator) { $0.power = .low }
            let token = try await device.token()
            let client = try RawClient(simulator)
            for (priority, number) in [("1", 1), ("5", 2), ("5", 3), ("10", 4)] {
                let request = try push(token).with("apns-priority", priority).payload("{\"n\":\(number)}")
                #expect(try client.exchange(request).status == 200)
            }
            #expect(try await device.notification().payload == #"{"n":4}"#)
            clock.advance(by: NotificationStore.groupInterval + 1)
            #expect(try await device.notification().payload == #"{"n":2}"#)
            #expect(try await device.notification().payload == #"{"n":3}"#)
            device.tell(.power(.normal))
            #expect(try await device.notification().payload == #"{"n":1}"#)
            await device.quit()
        }
    }

    @Test("Many devices get every push of many connections once, in any order")
    func many() async throws {
        try await with { simulator in
            let (deviceCount, pushCount) = (12, 40)
            var devices: [(device: TestDevice, token: String)] = []
            for _ in 0..<deviceCount {
                let device = try TestDevice(simulator)
                devices.append((device, try await device.token()))
            }
            let clients = try (0..<3).map { _ in try RawClient(simulator) }
            for number in 0..<pushCount {
                for (index, (_, token)) in devices.enumerated() {
                    try clients[(number + index) % clients.count].send(push(token).payload("{\"n\":\(number)}"))
                }
            }
            for client in clients {
                try client.wait { client.answers.values.allSatisfy { $0.closure != nil } }
                #expect(client.answers.values.allSatisfy { $0.status == 200 })
            }
            for (device, _) in devices {
                var arrived: Set<String> = []
                for _ in 0..<pushCount { arrived.insert(try await device.notification().payload ?? "") }
                #expect(arrived.count == pushCount)
                await device.quit()
            }
        }
    }

    @Test("A simulator that has lost its state makes the device begin again")
    func forgotten() async throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "device-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: place) }
        try await with { simulator in
            let device = try TestDevice(simulator, directory: place)
            _ = try await device.token()
            await device.quit()
        }
        try await with { simulator in
            let device = try TestDevice(simulator, directory: place)
            _ = try await device.next { if case .activated = $0 { () } else { nil } }
            _ = try await device.token()
            await device.quit()
        }
    }

    @Test("A device that connects again takes the place of its former connection")
    func twice() async throws {
        try await with { simulator in
            let first = try TestDevice(simulator)
            let token = try await first.token()
            let second = try TestDevice(simulator, directory: first.directory) { $0.apps = [] }
            _ = try await second.online()
            try await first.offline()
            first.tell(.offline)
            let client = try RawClient(simulator)
            #expect(try client.exchange(push(token)).status == 200)
            await first.quit()
            await second.quit()
        }
    }

    @Test(
        "Bytes that are not frames, long frames and frames without a certificate end the connection, not the simulator",
        arguments: [
            [0, 0, 0, 2, 0x7B, 0x7D], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], Array("GET / HTTP/1.1\r\n\r\n".utf8),
            DeviceFrame(.hello).wire, DeviceFrame(.acknowledge).wire,
        ] as [[UInt8]])
    func strangers(_ bytes: [UInt8]) async throws {
        try await with { simulator in
            #expect(try Self.isEnded(by: bytes, simulator))
            let device = try TestDevice(simulator)
            _ = try await device.token()
            await device.quit()
        }
    }

    /// Sends bytes over TLS without a certificate and tells whether the simulator ends the connection.
    private static func isEnded(by bytes: [UInt8], _ simulator: RunningSimulator) throws -> Bool {
        let socket = try Socket.connect(to: .loopback(port: simulator.devicePort ?? 0), timeout: .seconds(5))
        let context = try TLSContext.client(
            trust: TrustRoots(systemRoots: false, files: [], pem: [simulator.authorityPEM]), identity: nil,
            applicationProtocols: [DeviceFrame.applicationProtocol])
        let tls = try TLSSession(client: context, serverName: "localhost")
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var isSent = false
        while true {
            if try tls.handshake(), !isSent {
                try tls.write(bytes.span)
                isSent = true
            }
            while tls.pendingCiphertext > 0 { try tls.withPendingCiphertext { try socket.write($0) } }
            guard try socket.wait(for: .readable, timeout: .seconds(10)) else { return false }
            do {
                guard case .bytes(let count) = try socket.read(into: &buffer) else { return true }
                tls.receive(buffer.span.extracting(0..<count))
            } catch {
                return true
            }
        }
    }
}

/// Waits for something that happens on other threads.
func waitFor(_ condition: () -> Bool) async throws {
    let start = MonotonicTime.now()
    while !condition() {
        guard MonotonicTime.now().nanoseconds(since: start) < 20_000_000_000 else {
            throw TestDevice.Failure(message: "it did not happen within twenty seconds")
        }
        await Task.yield()
    }
}
