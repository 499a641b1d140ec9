import Testing

@testable import APNSSimulator

@Suite("Rules for requests", .timeLimit(.minutes(1)))
struct PushRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var request: RequestBuilder
        var refusal: Refusal?
        var testDescription: String { name }

        init(_ name: String, _ request: RequestBuilder, _ refusal: Refusal? = nil) {
            self.name = name
            self.request = request
            self.refusal = refusal
        }
    }

    static let good = RequestBuilder()

    static let routes = [
        Case("a plain push is good", good),
        Case("GET", good.with(":method", "GET"), .methodNotAllowed),
        Case("another path", good.with(":path", "/4/device/abcd"), .badPath),
        Case("a path that goes on", good.with(":path", "/3/device/abcd/more"), .badPath),
        Case("a path that only begins alike", good.with(":path", "/3/devices/abcd"), .badPath),
        Case("no token, no slash", good.with(":path", "/3/device"), .missingDeviceToken),
        Case("no token", good.with(":path", "/3/device/"), .missingDeviceToken),
        Case("a token that is not hexadecimal", good.token(String(repeating: "xy", count: 32)), .badDeviceToken),
        Case("a token of half a byte", good.token(RequestBuilder.token + "a"), .badDeviceToken),
        Case("a token too short", good.token("a1b2"), .badDeviceToken),
        Case("a token too long", good.token(String(repeating: "ab", count: 257)), .badDeviceToken),
        Case("a long token", good.token(String(repeating: "ab", count: 100))),
        Case("an upper-case token", good.token(RequestBuilder.token.uppercased())),
        Case("a repeated header", good.adding("apns-topic", "com.example.app"), .duplicateHeaders),
        Case("an unknown header twice", good.adding("x-a", "1").adding("x-a", "2")),
    ]

    static let headers = [
        Case("an apns-id", good.with("apns-id", "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90")),
        Case("an upper-case apns-id", good.with("apns-id", "0193C0DE-7A5B-7C3D-9E10-2F6B1A7C8D90")),
        Case("an apns-id that is not a UUID", good.with("apns-id", "42"), .badMessageID),
        Case("an apns-id without hyphens", good.with("apns-id", "0193c0de7a5b7c3d9e102f6b1a7c8d90"), .badMessageID),
        Case("expiration 0", good.with("apns-expiration", "0")),
        Case("an expiration in words", good.with("apns-expiration", "tomorrow"), .badExpirationDate),
        Case("a negative expiration", good.with("apns-expiration", "-1"), .badExpirationDate),
        Case("an expiration beyond 64 bits", good.with("apns-expiration", "99999999999999999999"), .badExpirationDate),
        Case("priority 1", good.with("apns-priority", "1")),
        Case("priority 5", good.with("apns-priority", "5")),
        Case("priority 7", good.with("apns-priority", "7"), .badPriority),
        Case("an empty priority", good.with("apns-priority", ""), .badPriority),
        Case("a collapse id of 64 bytes", good.with("apns-collapse-id", String(repeating: "c", count: 64))),
        Case(
            "a collapse id of 65 bytes", good.with("apns-collapse-id", String(repeating: "c", count: 65)),
            .badCollapseID),
        Case(
            "64 characters of two bytes", good.with("apns-collapse-id", String(repeating: "é", count: 64)),
            .badCollapseID),
        Case("an unknown push type", good.with("apns-push-type", "shout"), .invalidPushType),
        Case("no push type", good.with("apns-push-type", nil)),
        Case(
            "background with priority 10", good.with("apns-push-type", "background").with("apns-priority", "10"),
            .badPriority),
        Case("background with priority 5", good.with("apns-push-type", "background").with("apns-priority", "5")),
        Case("background without a priority", good.with("apns-push-type", "background")),
    ]

    static let topics = [
        Case("no topic", good.with("apns-topic", nil), .missingTopic),
        Case("an empty topic", good.with("apns-topic", ""), .missingTopic),
        Case("a topic with a space", good.with("apns-topic", "com example"), .badTopic),
        Case("a topic of 201 bytes", good.with("apns-topic", String(repeating: "t", count: 201)), .badTopic),
        Case("voip without its suffix", good.type("voip", topic: "com.example.app"), .deviceTokenNotForTopic),
        Case("a suffix and nothing else", good.type("voip", topic: ".voip"), .deviceTokenNotForTopic),
    ]

    static let payloads = [
        Case("no payload", good.payload(""), .payloadEmpty),
        Case("an empty object", good.payload("{}")),
        Case("text that is not JSON", good.payload("hello"), .payloadEmpty),
        Case("a JSON array", good.payload("[1]"), .payloadEmpty),
        Case("two objects", good.payload("{}{}"), .payloadEmpty),
        Case("4096 bytes", good.payload(payload(bytes: 4096))),
        Case("4097 bytes", good.payload(payload(bytes: 4097)), .payloadTooLarge),
        Case("voip with 5120 bytes", good.type("voip", topic: "com.example.app.voip").payload(payload(bytes: 5120))),
        Case(
            "voip with 5121 bytes", good.type("voip", topic: "com.example.app.voip").payload(payload(bytes: 5121)),
            .payloadTooLarge),
        Case("5120 bytes to a voip topic, no type", good.type(nil, topic: "a.voip").payload(payload(bytes: 5120))),
    ]

    @Test("The first broken rule answers", arguments: routes + headers + topics + payloads)
    func verdict(_ given: Case) {
        let finding = PushRules().check(given.request.request, credential: nil)
        switch finding {
        case .valid: #expect(given.refusal == nil)
        case .refused(let refusal): #expect(refusal == given.refusal)
        }
    }

    @Test("Each push type is accepted on its own topic", arguments: GatewayPushType.allCases)
    func suffix(_ type: GatewayPushType) throws {
        let topic = "com.example.app" + type.topicSuffix
        let request = Self.good.type(type.rawValue, topic: topic).with("apns-priority", "5").request
        guard case .valid(let push) = PushRules().check(request, credential: nil) else {
            Issue.record("refused")
            return
        }
        #expect(push.type == type)
        #expect(push.topic == topic)
        #expect(GatewayPushType.bundleIdentifier(of: topic) == "com.example.app")
    }

    @Test(
        "A topic with a suffix takes the push type of that suffix only, one without takes those that have none",
        arguments: GatewayPushType.allCases, Set(GatewayPushType.allCases.map(\.topicSuffix)))
    func otherSuffix(_ type: GatewayPushType, _ suffix: String) {
        let request = Self.good.type(type.rawValue, topic: "com.example.app" + suffix).with("apns-priority", "5")
        let finding = PushRules().check(request.request, credential: nil)
        if type.topicSuffix == suffix {
            guard case .valid = finding else {
                Issue.record("refused")
                return
            }
        } else {
            #expect(finding == .refused(.deviceTokenNotForTopic))
        }
    }

    @Test("Rules answer in the documented order when all are broken")
    func order() {
        var request = Self.good.with(":method", "PUT").with(":path", "/nowhere").adding("apns-topic", "x y")
            .with("apns-id", "1").with("apns-expiration", "x").with("apns-priority", "x")
            .with("apns-collapse-id", String(repeating: "c", count: 65)).with("apns-push-type", "x").payload("")
        request.headers.append(("apns-id", "2"))
        let rules = PushRules()
        func answer(_ credential: Refusal? = nil) -> PushRules.Finding {
            rules.check(request.request, credential: credential)
        }
        #expect(answer(.missingProviderToken) == .refused(.missingProviderToken))
        #expect(answer() == .refused(.methodNotAllowed))
        request = request.with(":method", "POST")
        #expect(answer() == .refused(.badPath))
        request = request.token("zz")
        #expect(answer() == .refused(.duplicateHeaders))
        request = request.with("apns-id", "1").with("apns-topic", "x y")
        let steps: [(String, String, Refusal)] = [
            ("apns-id", "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90", .badMessageID),
            ("apns-expiration", "0", .badExpirationDate), ("apns-priority", "10", .badPriority),
            ("apns-collapse-id", "c", .badCollapseID), ("apns-push-type", "alert", .invalidPushType),
            (":path", "/3/device/\(RequestBuilder.token)", .badDeviceToken), ("apns-topic", "a.b", .badTopic),
        ]
        for (header, good, refusal) in steps {
            #expect(answer() == .refused(refusal))
            request = request.with(header, good)
        }
        #expect(answer() == .refused(.payloadEmpty))
    }

    @Test("Other payloads than JSON objects pass where the configuration says so")
    func lenient() {
        let rules = PushRules(requiresJSONObject: false)
        guard case .valid = rules.check(Self.good.payload("hello").request, credential: nil) else {
            Issue.record("refused")
            return
        }
    }

    @Test("A refusal's body is the JSON that APNs sends")
    func body() {
        #expect(String(decoding: Refusal.badTopic.body, as: UTF8.self) == #"{"reason":"BadTopic"}"#)
        let gone = Refusal(410, "Unregistered", timestamp: 1_763_712_764_120)
        #expect(
            String(decoding: gone.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1763712764120}"#)
        #expect(String(decoding: Refusal(400, "a\"b\n").body, as: UTF8.self) == #"{"reason":"a\"b\n"}"#)
    }
}
