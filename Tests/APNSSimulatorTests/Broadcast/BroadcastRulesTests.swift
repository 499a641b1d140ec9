import EventLoop
import HTTP2
import TLS
import Testing
import Text

@testable import APNSSimulator

@Suite("Rules for broadcasts and broadcast channels", .timeLimit(.minutes(1)))
struct BroadcastRulesTests {
    static let channelID = "dHN0LXNyY2gtY2hubA=="

    static func call(_ headers: [(String, String)], _ body: String = "") -> BroadcastCall {
        BroadcastCall(
            HTTP2Request(
                streamID: 1, headers: headers.map { (name: Array($0.0.utf8), value: Array($0.1.utf8)) },
                body: Array(body.utf8)))
    }

    static func publish(
        _ changes: [String: String?] = [:], _ body: String = #"{"aps":{}}"#
    ) -> BroadcastCall {
        var headers: [(String, String)] = [
            (":method", "POST"), (":path", "/4/broadcasts/apps/com.example.app"), ("apns-channel-id", channelID),
            ("apns-push-type", "liveactivity"), ("apns-priority", "10"), ("apns-expiration", "0"),
        ]
        for (name, value) in changes {
            headers.removeAll { $0.0 == name }
            if let value { headers.append((name, value)) }
        }
        return call(headers, body)
    }

    @Test(
        "Method and path",
        arguments: [
            ("POST", "/4/broadcasts/apps/com.example.app", true, nil),
            ("GET", "/4/broadcasts/apps/com.example.app", true, "MethodNotAllowed"),
            ("POST", "/4/broadcasts/apps/", true, "BadPath"), ("POST", "/4/broadcasts/apps/a/b", true, "BadPath"),
            ("POST", "/4/broadcasts/apps/com.example.app", false, "BadPath"),
            ("POST", "/4/broadcasts/apps/com.example.app.push-type.liveactivity", true, "TopicDisallowed"),
            ("POST", "/1/apps/com.example.app/channels", false, nil),
            ("GET", "/1/apps/com.example.app/channels", false, nil),
            ("DELETE", "/1/apps/com.example.app/channels", false, nil),
            ("PUT", "/1/apps/com.example.app/channels", false, "MethodNotAllowed"),
            ("GET", "/1/apps/com.example.app/all-channels", false, nil),
            ("POST", "/1/apps/com.example.app/all-channels", false, "MethodNotAllowed"),
            ("GET", "/1/apps/com.example.app/all-channels", true, "BadPath"),
            ("GET", "/1/apps//channels", false, "BadPath"), ("GET", "/1/apps/com example/channels", false, "BadPath"),
            ("GET", "/1/apps/com.other/channels", false, "FeatureNotEnabled"), ("GET", "", false, "BadPath"),
        ] as [(String, String, Bool, String?)])
    func paths(_ method: String, _ path: String, _ publishes: Bool, _ reason: String?) {
        let rules = BroadcastRules(apps: ["com.example.app", "a"])
        let refusal = rules.check(Self.call([(":method", method), (":path", path)]), servesPublishing: publishes)
        #expect(refusal?.reason == reason)
    }

    @Test(
        "Messages",
        arguments: [
            ([:], true, nil), (["apns-push-type": nil], true, "MissingPushType"),
            (["apns-push-type": "alert"], true, "InvalidPushType"), (["apns-push-type": "LiveActivity"], true, nil),
            (["apns-priority": nil], true, "BadPriority"), (["apns-priority": "1"], true, "BadPriority"),
            (["apns-priority": "5"], true, nil), (["apns-expiration": nil], true, "BadExpirationDate"),
            (["apns-expiration": "-1"], true, "BadExpirationDate"),
            (["apns-expiration": "soon"], true, "BadExpirationDate"),
            (["apns-expiration": "1900000000"], true, nil),
            (["apns-expiration": "1900000000"], false, "BadExpirationDate"), (["apns-expiration": "0"], false, nil),
        ] as [([String: String?], Bool, String?)])
    func messages(_ changes: [String: String?], _ isStoring: Bool, _ reason: String?) {
        let result = BroadcastRules().message(of: Self.publish(changes), isStoring: isStoring)
        #expect(Self.reason(of: result) == reason)
    }

    @Test(
        "Bodies of messages have at most 5120 bytes and are JSON objects",
        arguments: [
            (payload(bytes: 5120), nil), (payload(bytes: 5121), "PayloadTooLarge"), ("", "PayloadEmpty"),
            ("[]", "BadRequestPayload"), ("{", "BadRequestPayload"),
        ] as [(String, String?)])
    func bodies(_ body: String, _ reason: String?) {
        #expect(Self.reason(of: BroadcastRules().message(of: Self.publish([:], body), isStoring: true)) == reason)
    }

    @Test(
        "Broadcast channel identifiers",
        arguments: [
            (channelID, nil), (nil, "MissingChannelId"), ("", "MissingChannelId"), ("not base64!", "BadChannelId"),
            ("AAA", "BadChannelId"), ("====", "BadChannelId"),
            (String(repeating: "QUJD", count: 17), "BadChannelId"),
        ] as [(String?, String?)])
    func identifiers(_ identifier: String?, _ reason: String?) {
        #expect(
            Self.reason(of: BroadcastRules().broadcastChannel(of: Self.publish(["apns-channel-id": identifier])))
                == reason)
    }

    @Test(
        "Requests that create broadcast channels",
        arguments: [
            (#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, nil),
            (#"{"message-storage-policy":1,"push-type":"liveactivity"}"#, nil), ("", "PayloadEmpty"),
            ("no JSON", "BadRequestPayload"), (#"{"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
            (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
            (#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
            (#"{"message-storage-policy":1}"#, "MissingPushType"),
            (#"{"message-storage-policy":1,"push-type":"alert"}"#, "InvalidPushType"),
            (#"{"message-storage-policy":1,"push-type":"LiveActivity","more":1}"#, "BadRequestParams"),
        ] as [(String, String?)])
    func policies(_ body: String, _ reason: String?) {
        #expect(Self.reason(of: BroadcastRules().storagePolicy(of: Self.call([], body))) == reason)
    }

    @Test("Identifiers are never given twice, and an app has at most ten thousand broadcast channels")
    func registry() {
        var registry = BroadcastChannelRegistry(environment: .development)
        var random = SplitMix64(seed: 1)
        var identifiers: Set<String> = []
        for _ in 0..<BroadcastChannelRegistry.limit {
            if let made = registry.create(app: "a", isStoring: false, random: &random, now: 0) {
                identifiers.insert(made)
            }
        }
        #expect(identifiers.count == BroadcastChannelRegistry.limit)
        let beyond = registry.create(app: "a", isStoring: false, random: &random, now: 0)
        #expect(beyond == nil)
        #expect(registry.identifiers(of: "a") == identifiers.sorted())
        let kept = BroadcastChannelRegistry(environment: .production, kept: registry.all)
        #expect(kept.identifiers(of: "a") == [])
        #expect(kept.all.count == registry.all.count)
        let same = BroadcastChannelRegistry(environment: .development, kept: kept.all)
        #expect(same.identifiers(of: "a") == identifiers.sorted())
    }

    private static func reason<Value>(of result: Result<Value, BroadcastRefusal>) -> String? {
        if case .failure(let failure) = result { failure.refusal.reason } else { nil }
    }
}
