import EventLoop
import HTTP2
import PushModel
import TestSupport
import Testing

@testable import APNSClient

@Suite("Requests about broadcast channels", .timeLimit(.minutes(1)), .serialized)
struct BroadcastChannelRingTests {
    static let channelID = "dHN0LXNyY2gtY2hubA=="
    static let id = "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90"

    /// A job of these fields, as the queue would bring it.
    static func job(_ fields: String, topic: String = "com.example.app") throws -> Job {
        let text = #"{"id":"\#(id)",\#(fields)}"#
        let key = "production.normal.\(topic)".utf8.count
        var bytes = Array("production.normal.\(topic)application/json".utf8)
        let body = bytes.count..<(bytes.count + text.utf8.count)
        bytes += Array(text.utf8)
        let message = JobMessage(bytes: bytes, routingKey: 0..<key, contentType: key..<(key + 16), body: body)
        return try JobDecoder().decode(message, now: 1_763_712_800_100, random: { 0 }).get()
    }

    static let requests: [(String, String, String, [String: String])] = [
        (
            #""channel_id":"\#(channelID)","payload":{"aps":{}},"priority":5,"expiration":1795264800"#,
            "POST /4/broadcasts/apps/com.example.app", #"{"aps":{}}"#,
            [
                "apns-channel-id": channelID, "apns-push-type": "liveactivity", "apns-priority": "5",
                "apns-expiration": "1795264800",
            ]
        ),
        (
            #""channel_id":"\#(channelID)","payload":{}"#, "POST /4/broadcasts/apps/com.example.app", "{}",
            [
                "apns-channel-id": channelID, "apns-push-type": "liveactivity", "apns-priority": "10",
                "apns-expiration": "0",
            ]
        ),
        (
            #""operation":"create_channel","storage_policy":1"#, "POST /1/apps/com.example.app/channels",
            #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, [:]
        ),
        (
            #""operation":"read_channel","channel_id":"\#(channelID)""#, "GET /1/apps/com.example.app/channels", "",
            ["apns-channel-id": channelID]
        ),
        (#""operation":"list_channels""#, "GET /1/apps/com.example.app/all-channels", "", [:]),
        (
            #""operation":"delete_channel","channel_id":"\#(channelID)""#,
            "DELETE /1/apps/com.example.app/channels", "", ["apns-channel-id": channelID]
        ),
    ]

    @Test("each operation has Apple's method, path, headers and body, and no others", arguments: requests)
    func request(_ fields: String, _ line: String, _ body: String, _ headers: [String: String]) throws {
        let ring = try Ring(tokens: try Tokens.source())
        for topic in ["com.example.app", "com.example.app.push-type.liveactivity"] {
            try ring.send(try Self.job(fields, topic: topic), count: 2)
        }
        #expect(ring.server.requests.count == 4)
        for request in ring.server.requests {
            #expect("\(request.headers[":method"] ?? "") \(request.headers[":path"] ?? "")" == line)
            #expect(String(decoding: request.body, as: UTF8.self) == body)
            var rest = request.headers
            for (name, value) in headers { #expect(rest.removeValue(forKey: name) == value, "\(name)") }
            #expect(rest.removeValue(forKey: "authorization")?.hasPrefix("bearer ey") == true)
            #expect(rest.removeValue(forKey: "apns-request-id") == Self.id, "the same on every attempt")
            #expect(Set(rest.keys) == [":method", ":path", ":scheme", ":authority"])
            #expect(rest[":authority"] == "127.0.0.1:\(ring.server.port)" && rest[":scheme"] == "https")
            #expect(request.headerNames.prefix(4).allSatisfy { $0.hasPrefix(":") })
        }
    }

    @Test("a broadcast channel that was made, a policy and the list of all come back with their answers")
    func answers() throws {
        let ring = try Ring()
        ring.server.script = { request in
            switch (request.headers[":method"], request.headers[":path"]?.hasSuffix("/all-channels")) {
            case ("POST", _):
                [.respond(201, headers: [("apns-channel-id", Self.channelID), ("apns-request-id", Self.id)])]
            case ("GET", true): [.respond(200, #"{"channels":["YQ==","Yg=="]}"#)]
            case ("GET", _): [.respond(200, #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)]
            default: [.respond(204)]
            }
        }
        for (fields, _, _, _) in Self.requests.dropFirst(2) { try ring.send(try Self.job(fields), count: 1) }
        let responses = ring.answers.compactMap(\.answer.response)
        #expect(responses.map(\.status) == [201, 200, 200, 204])
        #expect(
            responses.map { $0.broadcastChannel?.channelID.map { String(decoding: $0, as: UTF8.self) } } == [
                Self.channelID, nil, nil, nil,
            ])
        #expect(responses.map { $0.broadcastChannel?.storagePolicy } == [nil, 0, nil, nil])
        #expect(
            responses[2].broadcastChannel?.identifiers.map { String(decoding: $0, as: UTF8.self) }
                == #"["YQ==","Yg=="]"#)
        #expect(responses.allSatisfy { $0.reason == nil && $0.broadcastChannel?.isIncomplete == false })
    }

    @Test("a list of as many broadcast channels as an app may have arrives whole; no push's answer is kept that long")
    func longAnswer() throws {
        let ring = try Ring()
        let body = "{\"channels\":[" + (0..<10_000).map { "\"channel\($0)\"" }.joined(separator: ",") + "]}"
        ring.server.script = { _ in [.respond(200, body)] }
        try ring.send(try Self.job(#""operation":"list_channels""#), count: 1)
        let answer = try #require(ring.answers.last?.answer.response?.broadcastChannel)
        #expect(answer.identifiers?.count == body.utf8.count - 13 && !answer.isIncomplete)
        try ring.send(try Jobs.make(), count: 1)
        #expect(ring.answers.last?.answer.response?.broadcastChannel == nil)
    }

    @Test("an answer that breaks off does not count where its body is what was asked for")
    func brokenAnswers() throws {
        let ring = try Ring()
        // HEADERS without END_STREAM (RFC 9113, section 6.2): `:status` 200 from the static table, an identifier that is
        // not indexed, and no body.
        let block: [UInt8] = [0x88, 0, 15] + Array("apns-request-id".utf8) + [1, 0x31]
        ring.server.script = { request in
            [.raw(Frame.headers(UInt32(request.streamID), block)), .reset(.internalError)]
        }
        for row in [3, 4] {
            try ring.send(try Self.job(Self.requests[row].0), count: 1)
            let cause = ring.answers.last?.answer.cause
            #expect(
                cause == .reset(code: HTTP2ErrorCode.internalError.rawValue), "\(Self.requests[row].0)")
        }
        try ring.send(try Self.job(Self.requests[5].0), count: 1)
        #expect(ring.answers.last?.answer.response?.status == 200, "a status says it all")
    }

    @Test("refusals keep their reasons, and a slot that was used for a broadcast channel forgets it")
    func refusals() throws {
        let ring = try Ring()
        ring.server.script = { _ in
            [.respond(400, #"{"reason":"ChannelNotRegistered"}"#, headers: [("apns-channel-id", "YQ==")])]
        }
        let job = try Self.job(Self.requests[3].0)
        try ring.send(job, count: 1)
        let refused = try #require(ring.answers.last?.answer.response)
        #expect(refused.status == 400 && refused.reason == .channelNotRegistered && refused.broadcastChannel == nil)
        ring.server.script = { _ in [.respond(200, "{}")] }
        try ring.send(job, count: 1)
        #expect(ring.answers.last?.answer.response?.broadcastChannel == BroadcastChannelAnswer())
    }
}
