import EventLoop
import HTTP2
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("Broadcast on the wire", .timeLimit(.minutes(1)))
struct BroadcastTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        try await SimulatorBench.with(
            {
                $0.devices.port = 0
                $0.devices.managementPort = 0
                change(&$0)
            }, body)
    }

    private func request(_ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: String = "")
        throws -> RequestBuilder
    {
        var request = RequestBuilder()
        let bearer = try maker.bearer(issuedAt: maker.issuedAt)
        request.headers =
            [
                (":method", method), (":scheme", "https"), (":path", path), ("host", "localhost"),
                ("authorization", bearer),
            ]
            + headers
        return request.payload(body)
    }

    private func publish(_ channelID: String, _ body: String, expiration: String = "0") throws -> RequestBuilder {
        try request(
            "POST", "/4/broadcasts/apps/com.example.app",
            [
                ("apns-channel-id", channelID), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
                ("apns-expiration", expiration),
            ], body)
    }

    private func create(_ manager: RawClient, storing: Bool) throws -> String {
        let body = "{\"message-storage-policy\":\(storing ? 1 : 0),\"push-type\":\"LiveActivity\"}"
        let made = try manager.exchange(request("POST", "/1/apps/com.example.app/channels", [], body))
        guard made.status == 201, let channelID = made.headers["apns-channel-id"] else {
            throw RawClient.Failure(message: "no broadcast channel: \(made)")
        }
        return channelID
    }

    @Test("A broadcast channel is created, read, listed and deleted on the management port")
    func lifeCycle() async throws {
        try await with { simulator in
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let path = "/1/apps/com.example.app/channels"
            let id = "0193C0DE-7A5B-7C3D-9E10-2F6B1A7C8D90"
            let made = try manager.exchange(
                request(
                    "POST", path, [("apns-request-id", id)],
                    #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#))
            #expect(made.status == 201)
            #expect(made.headers["apns-request-id"] == id)
            #expect(made.body == "")
            let channelID = try #require(made.headers["apns-channel-id"])
            let other = try create(manager, storing: false)
            let read = try manager.exchange(request("GET", path, [("apns-channel-id", channelID)]))
            #expect(read.status == 200)
            #expect(read.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            let list = try manager.exchange(request("GET", "/1/apps/com.example.app/all-channels"))
            let names = [channelID, other].sorted().map { "\"\($0)\"" }.joined(separator: ",")
            #expect(list.body == "{\"channels\":[\(names)]}")
            #expect(try manager.exchange(request("GET", "/1/apps/com.other/all-channels")).body == #"{"channels":[]}"#)
            let gone = try manager.exchange(request("DELETE", path, [("apns-channel-id", channelID)]))
            #expect(gone.status == 204)
            #expect(gone.body == "")
            for method in ["GET", "DELETE"] {
                let missing = try manager.exchange(request(method, path, [("apns-channel-id", channelID)]))
                #expect(missing.status == 400)
                #expect(missing.reason == "ChannelNotRegistered")
                #expect(missing.headers["apns-request-id"] != nil)
                #expect(missing.headers["apns-id"] == nil)
            }
        }
    }

    @Test("A message reaches every device that listens, and no other")
    func fanOut() async throws {
        try await with { simulator in
            let channelID = try create(try RawClient(simulator, port: simulator.managementPort), storing: false)
            var devices: [TestDevice] = []
            for index in 0..<3 {
                let device = try TestDevice(simulator)
                _ = try await device.token()
                if index < 2 {
                    device.tell(.subscribe(app: "com.example.app", broadcastChannel: channelID))
                    try await device.done("subscribed \(channelID)")
                }
                devices.append(device)
            }
            let gateway = try RawClient(simulator)
            let answer = try gateway.exchange(publish(channelID, #"{"aps":{"event":"update"}}"#))
            #expect(answer.status == 200)
            #expect(answer.headers["apns-request-id"] != nil)
            #expect(answer.headers["apns-id"] == nil)
            for device in devices.prefix(2) {
                let frame = try await device.notification()
                #expect(frame.broadcastChannel == channelID)
                #expect(frame.app == "com.example.app")
                #expect(frame.pushType == "liveactivity")
                #expect(frame.payload == #"{"aps":{"event":"update"}}"#)
            }
            let uniqueID = try #require(UUIDBytes.parse(answer.headers["apns-unique-id"] ?? ""))
            try await waitFor {
                let states = simulator.devices?.delivery(uniqueID)?.events.map(\.state) ?? []
                return states.count { $0 == "delivered" } == 2
            }
            #expect(simulator.devices?.delivery(uniqueID)?.events.count { $0.state == "received" } == 2)
            devices[0].tell(.unsubscribe(app: "com.example.app", broadcastChannel: channelID))
            try await devices[0].done("unsubscribed \(channelID)")
            #expect(try gateway.exchange(publish(channelID, #"{"n":2}"#)).status == 200)
            #expect(try await devices[1].notification().payload == #"{"n":2}"#)
            for device in devices { await device.quit() }
        }
    }

    @Test("A storing broadcast channel keeps its most recent message for those who come later; another keeps none")
    func storage() async throws {
        try await with { simulator in
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let storing = try create(manager, storing: true)
            let fleeting = try create(manager, storing: false)
            let device = try TestDevice(simulator)
            _ = try await device.token()
            for channelID in [storing, fleeting] {
                device.tell(.subscribe(app: "com.example.app", broadcastChannel: channelID))
                try await device.done("subscribed \(channelID)")
            }
            device.tell(.offline)
            try await device.offline()
            try await waitFor { simulator.devices?.views(limit: 1).first?.isOnline == false }
            let gateway = try RawClient(simulator)
            let later = String(WallClock.milliseconds() / 1000 + 600)
            for number in 1...2 {
                #expect(try gateway.exchange(publish(storing, "{\"n\":\(number)}", expiration: later)).status == 200)
                #expect(try gateway.exchange(publish(fleeting, "{\"f\":\(number)}")).status == 200)
            }
            #expect(try gateway.exchange(publish(fleeting, "{}", expiration: later)).reason == "BadExpirationDate")
            device.tell(.online)
            #expect(try await device.notification().payload == #"{"n":2}"#)
            let newcomer = try TestDevice(simulator)
            _ = try await newcomer.token()
            newcomer.tell(.subscribe(app: "com.example.app", broadcastChannel: storing))
            #expect(try await newcomer.notification().payload == #"{"n":2}"#)
            await newcomer.quit()
            await device.quit()
        }
    }

    @Test("Credentials are judged as those of pushes, and the topic against the key")
    func credentials() async throws {
        try await with({
            $0.acceptsAnyKey = false
            $0.keys = [
                ProviderKey(
                    keyID: "ABC1234567", teamID: "DEF7654321", publicKey: maker.key.publicKey,
                    topics: ["com.example.app"])
            ]
        }) { simulator in
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let good = try request("GET", "/1/apps/com.example.app/all-channels")
            #expect(try manager.exchange(good).status == 200)
            #expect(try manager.exchange(good.with("authorization", nil)).reason == "MissingProviderToken")
            #expect(try manager.exchange(good.with("authorization", "bearer x")).reason == "InvalidProviderToken")
            let old = try maker.bearer(issuedAt: WallClock.milliseconds() / 1000 - 3700)
            #expect(try manager.exchange(good.with("authorization", old)).reason == "ExpiredProviderToken")
            let foreign = try manager.exchange(request("GET", "/1/apps/com.other/all-channels"))
            #expect(foreign.status == 403)
            #expect(foreign.reason == "TopicMismatch")
            #expect(try manager.exchange(good.with("apns-request-id", "x")).reason == "BadMessageId")
        }
    }

    @Test(
        "A token that changes too early is refused, whether it comes with pushes or with requests about broadcast channels"
    )
    func tokenUpdates() async throws {
        try await with { simulator in
            let now = WallClock.milliseconds() / 1000
            let early = try maker.bearer(issuedAt: now - 60)
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let list = try request("GET", "/1/apps/com.example.app/all-channels")
            #expect(try manager.exchange(list.with("authorization", early)).status == 200)
            let refused = try manager.exchange(list)
            #expect(refused.status == 429 && refused.reason == "TooManyProviderTokenUpdates")
            #expect(try manager.exchange(list.with("authorization", early)).status == 200, "the first is still good")

            let channelID = try create(try RawClient(simulator, port: simulator.managementPort), storing: false)
            let gateway = try RawClient(simulator)
            #expect(try gateway.exchange(RequestBuilder().with("authorization", early)).status == 200)
            #expect(try gateway.exchange(publish(channelID, "{}")).reason == "TooManyProviderTokenUpdates")
        }
    }

    @Test("An app that asks too much about broadcast channels is told so, and no other")
    func throttled() async throws {
        try await with({ $0.limits.broadcastChannelRequests = .init(pushes: 2, period: 60_000) }) { simulator in
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let list = try request("GET", "/1/apps/com.example.app/all-channels")
            #expect(try (0..<2).map { _ in try manager.exchange(list).status } == [200, 200])
            let refused = try manager.exchange(list)
            #expect(refused.status == 429 && refused.reason == "TooManyRequests")
            #expect(try manager.exchange(request("GET", "/1/apps/com.other/all-channels")).status == 200)
        }
    }

    @Test("Every documented reason can be asked for by a scenario", arguments: Refusal.documentedForBroadcast.indices)
    func scripted(_ index: Int) async throws {
        let refusal = Refusal.documentedForBroadcast[index]
        let rule = Scenario.Rule(topic: "com.example.app", sequence: VerdictSequence(Verdict(.refuse(refusal))))
        try await with({ $0.scenario = Scenario(rules: [rule]) }) { simulator in
            let channelID = try create(try RawClient(simulator, port: simulator.managementPort), storing: false)
            let answer = try RawClient(simulator).exchange(publish(channelID, "{}"))
            #expect(answer.status == refusal.status)
            #expect(answer.reason == refusal.reason)
            #expect(answer.headers["apns-request-id"] != nil)
            #expect(
                simulator.ledger.counts.contains(Ledger.Count(status: refusal.status, label: refusal.reason, count: 1)))
        }
    }

    @Test("Publishing can have a port of its own, and the gateway then knows no such path")
    func ownPort() async throws {
        try await with({ $0.devices.broadcastPort = 0 }) { simulator in
            let manager = try RawClient(simulator, port: simulator.managementPort)
            let channelID = try create(manager, storing: false)
            let publisher = try RawClient(simulator, port: simulator.broadcastPort)
            #expect(try publisher.exchange(publish(channelID, "{}")).status == 200)
            #expect(try RawClient(simulator).exchange(publish(channelID, "{}")).reason == "BadPath")
            #expect(try manager.exchange(publish(channelID, "{}")).reason == "BadPath")
            #expect(try publisher.exchange(request("GET", "/1/apps/com.example.app/all-channels")).reason == "BadPath")
        }
    }

    @Test("A provider certificate manages and publishes for its own topics only, and no longer once it is revoked")
    func certificates() async throws {
        try await with { simulator in
            let issued = try simulator.control.issue(ProviderCertificateRequest(topics: ["com.example.app"]))
            let manager = try RawClient(simulator, certificate: issued, port: simulator.managementPort)
            let channelID = try create(manager, storing: false)
            let bare = try request("GET", "/1/apps/com.example.app/all-channels").with("authorization", nil)
            #expect(try manager.exchange(bare).status == 200)
            let foreign = try request("GET", "/1/apps/com.other/all-channels").with("authorization", nil)
            #expect(try manager.exchange(foreign).reason == "TopicMismatch")
            let publisher = try RawClient(simulator, certificate: issued)
            let message = try publish(channelID, "{}").with("authorization", nil)
            #expect(try publisher.exchange(message).status == 200)
            simulator.control.setCertificate(issued.serialNumber, isRevoked: true)
            #expect(try manager.exchange(bare).reason == "BadCertificate")
            #expect(try publisher.exchange(message).reason == "BadCertificate")
        }
    }

    @Test("Broadcast channels survive a restart, with what they store")
    func restart() async throws {
        try await with { first in
            let directory = String(first.authorityFile.dropLast("/ca.pem".count))
            let channelID = try create(try RawClient(first, port: first.managementPort), storing: true)
            let later = String(WallClock.milliseconds() / 1000 + 600)
            #expect(try RawClient(first).exchange(publish(channelID, #"{"n":1}"#, expiration: later)).status == 200)
            await first.stop()
            try await with({ $0.stateDirectory = directory }) { second in
                let device = try TestDevice(second)
                _ = try await device.token()
                device.tell(.subscribe(app: "com.example.app", broadcastChannel: channelID))
                #expect(try await device.notification().payload == #"{"n":1}"#)
                await device.quit()
            }
        }
    }
}
