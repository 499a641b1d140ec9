import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("Device tokens and their registry", .timeLimit(.minutes(1)))
struct DeviceTokenCodecTests {
    static let start: Int64 = 1_800_000_000_000
    let codec: DeviceTokenCodec
    let device = DeviceID(UUIDBytes(high: 0x0102_0304_0506_4708, low: 0x890A_0B0C_0D0E_0F10))

    init() throws { codec = DeviceTokenCodec(key: try SealingKey.generate()) }

    private func content(_ topic: String = "com.example.app", generation: UInt32 = 1) -> DeviceTokenCodec.Content {
        DeviceTokenCodec.Content(
            device: device, environment: .production, generation: generation, issuedAt: 1_800_000_000, topic: topic)
    }

    private func salt(_ first: UInt8) -> [UInt8] { [first, 1, 2, 3, 4, 5, 6, 7] }

    @Test("A token gives its content back, in either case of its digits")
    func roundTrip() throws {
        let token = try codec.token(for: content(), salt: salt(9))
        #expect(codec.content(of: Array(token.utf8)) == content())
        #expect(codec.content(of: Array(token.uppercased().utf8)) == content())
        #expect(try codec.token(for: content(), salt: salt(9)) == token)
    }

    @Test("Tokens differ in length, never have the classic 64 digits, and pass the rules for tokens")
    func lengths() throws {
        var lengths: Set<Int> = []
        for first in 0..<16 {
            for topic in ["a", "com.example.app", String(repeating: "x", count: DeviceTokenCodec.topicLimit)] {
                let token = try codec.token(for: content(topic), salt: salt(UInt8(first)))
                lengths.insert(token.utf8.count)
                #expect(PushRules.defaultTokenLengths.contains(token.utf8.count / 2))
            }
        }
        #expect(lengths.count >= 16)
        #expect(!lengths.contains(64))
    }

    @Test("The content of a token cannot be seen in its digits")
    func opaque() throws {
        let bytes = try codec.token(for: content("com.example.app"), salt: salt(1))
        #expect(!bytes.contains(HexText.text(Array("com.example".utf8))))
        #expect(!bytes.contains("0102030405064708"))
    }

    @Test("A token with any digit changed, cut or sealed by another key is not one of ours")
    func forged() throws {
        let token = Array(try codec.token(for: content(), salt: salt(3)).utf8)
        for index in token.indices {
            var other = token
            other[index] = other[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(codec.content(of: other) == nil)
        }
        #expect(codec.content(of: Array(token.dropLast(2))) == nil)
        #expect(codec.content(of: token + Array("00".utf8)) == nil)
        let foreign = DeviceTokenCodec(key: try SealingKey.generate())
        #expect(foreign.content(of: token) == nil)
        for made in [RequestBuilder.token, "", "zz", String(repeating: "ab", count: 120)] {
            #expect(codec.content(of: Array(made.utf8)) == nil)
        }
    }

    @Test("Registering again gives the same token until it dies; then the old one tells when it died")
    func registration() throws {
        var registry = DeviceRegistry()
        #expect(registry.activate(device, name: "Phone", now: Self.start) == true)
        let first = registered(&registry, at: 0, salt: 1)
        let again = registered(&registry, at: 60_000, salt: 2)
        #expect(first != nil)
        #expect(first == again)
        #expect(registry.end(device, app: "com.example.app", now: Self.start + 100_000) == ["com.example.app"])
        #expect(standing(registry, 1, at: 200_000) == .unregistered(since: Self.start + 100_000))
        let second = registered(&registry, at: 300_000, salt: 3)
        #expect(second?.generation == 2)
        #expect(second?.salt == salt(3))
        #expect(standing(registry, 1, at: 400_000) == .unregistered(since: Self.start + 100_000))
        #expect(standing(registry, 2, at: 400_000) == .active)
        #expect(standing(registry, 3, at: 400_000) == .unknown)
        #expect(registry.end(device, app: nil, now: Self.start + 500_000) == ["com.example.app"])
        #expect(standing(registry, 2, at: 600_000) == .unregistered(since: Self.start + 500_000))
        #expect(standing(registry, 1, at: 600_000) == .unregistered(since: Self.start + 100_000))
    }

    @Test("Uninstalling an app ends the tokens of all its kinds and of no other app")
    func uninstall() throws {
        var registry = DeviceRegistry()
        #expect(registry.activate(device, name: "Phone", now: Self.start) == true)
        for topic in ["com.example.app", "com.example.app.voip", "com.example.other"] {
            _ = registry.register(
                device, topic: topic, environment: .development, now: Self.start, salt: salt(1))
        }
        let ended = registry.end(device, app: "com.example.app", now: Self.start + 1)
        #expect(Set(ended) == ["com.example.app", "com.example.app.voip"])
    }

    @Test("A token ages out, and the next registration gives a new one")
    func aging() throws {
        var registry = DeviceRegistry(tokenLifetime: 3600)
        #expect(registry.activate(device, name: "Phone", now: Self.start) == true)
        _ = registered(&registry, at: 0, salt: 1)
        #expect(standing(registry, 1, at: 3_599_999) == .active)
        #expect(standing(registry, 1, at: 3_600_000) == .expired(at: Self.start + 3_600_000))
        #expect(registered(&registry, at: 3_600_000, salt: 2)?.generation == 2)
        #expect(standing(registry, 1, at: 3_700_000) == .unregistered(since: Self.start + 3_600_000))
    }

    @Test("Times of death are kept for the latest tokens; older ones share the oldest time kept")
    func manyLives() throws {
        var registry = DeviceRegistry()
        #expect(registry.activate(device, name: "Phone", now: Self.start) == true)
        for life in 0..<(DeviceRegistry.retiredLimit + 4) {
            _ = registered(&registry, at: Int64(life) * 1000, salt: UInt8(life))
            _ = registry.end(device, app: nil, now: Self.start + Int64(life) * 1000 + 1)
        }
        #expect(registry.devices[device]?.registrations.first?.retired.count == DeviceRegistry.retiredLimit)
        #expect(standing(registry, 1, at: 100_000) == .unregistered(since: Self.start + 4001))
        #expect(standing(registry, 20, at: 100_000) == .unregistered(since: Self.start + 19_001))
    }

    @Test("Devices and topics have limits")
    func limits() throws {
        var registry = DeviceRegistry()
        #expect(registry.activate(device, name: "Phone", now: Self.start) == true)
        #expect(registry.activate(device, name: "Phone", now: Self.start) == false)
        for index in 0..<DeviceRegistry.topicLimit {
            let made = registry.register(
                device, topic: "com.example.app\(index)", environment: .development, now: Self.start, salt: salt(1))
            #expect(made != nil)
        }
        let beyond = registry.register(
            device, topic: "com.example.beyond", environment: .development, now: Self.start, salt: salt(1))
        #expect(beyond == nil)
        for index in 1..<DeviceRegistry.deviceLimit {
            _ = registry.activate(DeviceID(UUIDBytes(high: 1, low: UInt64(index))), name: "", now: Self.start)
        }
        #expect(registry.devices.count == DeviceRegistry.deviceLimit)
        #expect(registry.activate(.random(), name: "one too many", now: Self.start) == false)
        #expect(registry.isFull)
        let spared = registry.forgetOldest { _ in false }
        #expect(spared == nil)
        let first = DeviceID(UUIDBytes(high: 2, low: 0))
        let other = device
        let oldest = registry.forgetOldest { $0 == other }
        #expect(oldest == device)
        #expect(registry.activate(first, name: "in its place", now: Self.start - 1) == true)
        let next = registry.forgetOldest { _ in true }
        #expect(next == first)
        #expect(standing(registry, 1, at: 0) == .unknown)
    }

    private func registered(
        _ registry: inout DeviceRegistry, at offset: Int64, salt first: UInt8
    ) -> DeviceRegistry.Registration? {
        registry.register(
            device, topic: "com.example.app", environment: .production, now: Self.start + offset, salt: salt(first))
    }

    private func standing(
        _ registry: DeviceRegistry, _ generation: UInt32, at offset: Int64
    ) -> DeviceRegistry.Standing {
        registry.standing(of: content(generation: generation), now: Self.start + offset)
    }
}
