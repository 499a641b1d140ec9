import Foundation
import Testing
import Text

@testable import PushModel

@Suite("Jobs about broadcast channels", .timeLimit(.minutes(1)))
struct BroadcastChannelJobTests {
    static let channelID = "dHN0LXNyY2gtY2hubA=="
    static let payload = #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#

    /// An enveloped job of these fields alone.
    static func enveloped(
        _ fields: String, _ change: (inout MessageBuilder) -> Void = { _ in }
    ) -> MessageBuilder {
        MessageBuilder.enveloped("{\(fields)}") {
            $0.messageID = MessageBuilder.id
            change(&$0)
        }
    }

    /// A raw job without a device token, with these headers.
    static func raw(_ headers: [(String, MessageBuilder.Value)], body: String = "") -> MessageBuilder {
        MessageBuilder.raw {
            $0.headers = headers
            $0.body = Array(body.utf8)
        }
    }

    @Test("a job with a broadcast channel and no device token is a broadcast, with the defaults of both forms")
    func broadcastByDefault() throws {
        let jobs = [
            try Self.enveloped(#""channel_id":"\#(Self.channelID)","payload":\#(Self.payload)"#).job(),
            try Self.raw([("apns-channel-id", .text(Self.channelID))], body: Self.payload).job(),
        ]
        for job in jobs {
            #expect(job.operation == .broadcast && job.text(job.channelID) == Self.channelID)
            #expect(job.text(job.payload) == Self.payload)
            #expect(job.pushType == .liveActivity && job.priority == 10 && job.expiration == nil)
            #expect(job.onUnknown == .retry && job.storagePolicy == nil)
            #expect(job.tokenCount == 0 && job.targetCount == 1 && job.notificationCount == 1)
            #expect(job.nextIndex(from: 0) == 0 && job.nextIndex(from: 1) == nil && job.tokenDefect(0) == nil)
            #expect(job.apnsID(0).description == MessageBuilder.id)
            #expect(job.unknownFields == 0)
        }
    }

    @Test(
        "every operation is read in both forms, and the request's body is what APNs wants",
        arguments: [
            (
                BroadcastChannelOperation.broadcast, #""channel_id":"\#(channelID)","payload":\#(payload)"#, payload,
                payload
            ),
            (
                .createChannel, #""storage_policy":1"#, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#,
                #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            ),
            (
                .createChannel, #""storage_policy":"none""#,
                #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#,
                #"{ "push-type" : "LiveActivity", "message-storage-policy" : 0 }"#
            ),
            (.readChannel, #""channel_id":"\#(channelID)""#, "", ""),
            (.listChannels, #""storage_policy":null"#, "", ""),
            (.deleteChannel, #""channel_id":"\#(channelID)""#, "", ""),
        ])
    func operations(_ operation: BroadcastChannelOperation, _ fields: String, _ body: String, _ rawBody: String) throws
    {
        let enveloped = try Self.enveloped(#""operation":"\#(operation.rawValue)",\#(fields)"#).job()
        var headers: [(String, MessageBuilder.Value)] = [("x-apns-operation", .text(operation.rawValue))]
        if operation.needsBroadcastChannel { headers.append(("apns-channel-id", .text(Self.channelID))) }
        let raw = try Self.raw(headers, body: rawBody).job()
        #expect(enveloped.text(enveloped.payload) == body)
        #expect(raw.text(raw.payload) == rawBody)
        #expect(enveloped.storagePolicy == raw.storagePolicy)
        #expect((enveloped.storagePolicy != nil) == (operation == .createChannel))
        for job in [enveloped, raw] {
            #expect(job.operation == operation)
            #expect((job.channelID != nil) == operation.needsBroadcastChannel)
            #expect(
                job.onUnknown == (operation == .createChannel ? .report : .retry),
                "a retry may make a second broadcast channel")
            #expect(job.notificationCount == 1)
        }
    }

    @Test("the header names the operation of an enveloped job too, and wins over its field")
    func header() throws {
        let job = try Self.enveloped(#""operation":"read_channel","channel_id":"\#(Self.channelID)""#) {
            $0.headers = [("x-apns-operation", .text("delete_channel"))]
        }.job()
        #expect(job.operation == .deleteChannel)
    }

    @Test("what a job says about retry, priority, expiration and id is honoured")
    func conditions() throws {
        let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
        let job = try Self.enveloped(
            #""channel_id":"\#(Self.channelID)","payload":{},"priority":5,"expiration":0,"apns_id":"\#(id)""#
                + #","on_unknown":"report","push_type":"liveactivity","topic":"com.example.app""#
        ).job()
        #expect(job.priority == 5 && job.expiration == 0 && job.onUnknown == .report)
        #expect(job.apnsID(0).description == id)
        let create = try Self.enveloped(
            #""operation":"create_channel","storage_policy":"most_recent","on_unknown":"retry""#
        ).job()
        #expect(create.onUnknown == .retry && create.storagePolicy == 1)
        let named = try Self.enveloped(#""operation":"list_channels""#) { $0.messageID = "list-1" }.job()
        let again = try Self.enveloped(#""operation":"list_channels""#) { $0.messageID = "list-1" }.job()
        #expect(named.apnsID(0) == again.apnsID(0), "the id is the same on every attempt")
    }

    @Test(
        "the bundle identifier is the topic, without the suffix of Live Activities",
        arguments: [
            ("com.example.app", "com.example.app"), ("com.example.app.push-type.liveactivity", "com.example.app"),
        ])
    func bundleID(_ topic: String, _ bundle: String) throws {
        let job = try Self.enveloped(#""operation":"list_channels""#) {
            $0.routingKey = "production.normal.\(topic)"
        }.job()
        #expect(job.text(job.topic) == topic && job.text(job.bundleID) == bundle)
    }

    @Test("a job without anything about broadcast channels is a push, also when it says so")
    func push() throws {
        #expect(try MessageBuilder.raw().job().operation == .push)
        #expect(try MessageBuilder.enveloped(adding: #""operation":"push""#).job().operation == .push)
        let raw = try MessageBuilder.raw { $0.headers.append(("x-apns-operation", .text("push"))) }.job()
        #expect(raw.operation == .push && raw.tokenCount == 1)
        let voip = try MessageBuilder.enveloped(adding: #""operation":"push""#) { $0.routingKey += ".voip" }.job()
        #expect(voip.pushType == .voip)
    }

    static let limit = #"{"a":"\#(String(repeating: "x", count: 5_120 - 8))"}"#

    @Test("a broadcast may have 5120 bytes and no more, in both forms")
    func size() throws {
        #expect(Self.limit.utf8.count == 5_120)
        let headers: [(String, MessageBuilder.Value)] = [("apns-channel-id", .text(Self.channelID))]
        let fields = #""channel_id":"\#(Self.channelID)","payload":"#
        #expect(try Self.enveloped(fields + Self.limit).job().payload.count == 5_120)
        #expect(try Self.raw(headers, body: Self.limit).job().payload.count == 5_120)
        for defect in [
            try Self.enveloped(fields + Self.limit.replacingOccurrences(of: "a", with: "ab")).defect(),
            try Self.raw(headers, body: Self.limit + " ").defect(),
        ] {
            #expect(defect.reason == .payloadTooLarge && defect.detail.contains("5120"), "\(defect.detail)")
            #expect(defect.job.operation == .broadcast)
        }
    }

    static let refused: [(String, Reason)] = [
        (#""device_token":"a1b2","channel_id":"\#(channelID)","payload":{}"#, .ambiguousDeviceToken),
        (#""device_tokens":["a1b2"],"channel_id":"\#(channelID)","payload":{}"#, .ambiguousDeviceToken),
        (#""operation":"push","channel_id":"\#(channelID)","payload":{}"#, .ambiguousDeviceToken),
        (
            #""operation":"broadcast","device_token":"a1b2","channel_id":"\#(channelID)","payload":{}"#,
            .ambiguousDeviceToken
        ),
        (#""operation":"list_channels","device_tokens":["a1b2"]"#, .ambiguousDeviceToken),
        (#""operation":"publish","payload":{}"#, .badOperation),
        (#""operation":1,"payload":{}"#, .badType),
        (#""operation":"create_channel","storage_policy":1,"channel_id":"\#(channelID)""#, .badOperation),
        (#""operation":"list_channels","channel_id":"\#(channelID)""#, .badOperation),
        (#""operation":"broadcast","payload":{}"#, .missingChannelID),
        (#""operation":"read_channel""#, .missingChannelID),
        (#""operation":"delete_channel""#, .missingChannelID),
        (#""channel_id":"not base64!","payload":{}"#, .badChannelID),
        (#""channel_id":"","payload":{}"#, .badChannelID),
        (#""channel_id":"\#(String(repeating: "A", count: 513))","payload":{}"#, .badChannelID),
        (#""channel_id":7,"payload":{}"#, .badType),
        (#""channel_id":"\#(channelID)""#, .payloadEmpty),
        (#""channel_id":"\#(channelID)","payload":"text""#, .badType),
        (#""operation":"create_channel""#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":2"#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":-1"#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":0.5"#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":"all""#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":true"#, .badStoragePolicy),
        (#""channel_id":"\#(channelID)","storage_policy":1,"payload":{}"#, .badStoragePolicy),
        (#""storage_policy":1,"device_token":"a1b2","payload":{}"#, .badStoragePolicy),
        (#""operation":"create_channel","storage_policy":1,"payload":{}"#, .badRequestPayload),
        (#""operation":"read_channel","channel_id":"\#(channelID)","payload":{}"#, .badRequestPayload),
        (#""operation":"list_channels","payload":{}"#, .badRequestPayload),
        (#""operation":"delete_channel","channel_id":"\#(channelID)","payload":{}"#, .badRequestPayload),
        (#""channel_id":"\#(channelID)","payload":{},"push_type":"alert""#, .invalidPushType),
        (#""channel_id":"\#(channelID)","payload":{},"priority":1"#, .badPriority),
        (#""channel_id":"\#(channelID)","payload":{},"priority":7"#, .badPriority),
        (#""channel_id":"\#(channelID)","payload":{},"expiration":-1"#, .badExpirationDate),
        (#""channel_id":"\#(channelID)","payload":{},"collapse_id":"x""#, .badCollapseID),
        (#""channel_id":"\#(channelID)","payload":{},"apns_id":"x""#, .badMessageID),
        (#""channel_id":"\#(channelID)","channel_id":"\#(channelID)","payload":{}"#, .badJSON),
    ]

    @Test("what makes no sense is refused with its reason and a detail, as one result", arguments: refused)
    func refuses(_ fields: String, _ reason: Reason) throws {
        let defect = try Self.enveloped(fields).defect()
        #expect(defect.reason == reason, "\(defect.reason.rawValue): \(defect.detail)")
        #expect(defect.detail.count > 20 && defect.job.notificationCount <= 1)
        #expect(!defect.detail.contains("a1b2"))
    }

    static let refusedRaw: [([(String, MessageBuilder.Value)], String, Reason)] = [
        (
            [("apns-device-token", .text("a1b2")), ("apns-channel-id", .text(channelID))], payload,
            .ambiguousDeviceToken
        ),
        ([("apns-channel-id", .other)], payload, .badChannelID),
        ([("apns-channel-id", .text("a b"))], payload, .badChannelID),
        ([("apns-channel-id", .text(channelID))], "", .payloadEmpty),
        ([("apns-channel-id", .text(channelID)), ("apns-channel-id", .text(channelID))], payload, .duplicateHeaders),
        ([("x-apns-operation", .text("create_channel"))], "", .badStoragePolicy),
        ([("x-apns-operation", .text("erase"))], "", .badOperation),
        ([("x-apns-operation", .other)], "", .badOperation),
        ([("x-apns-operation", .text("list_channels"))], "{}", .badRequestPayload),
        ([("x-apns-operation", .text("create_channel"))], limit + " ", .payloadTooLarge),
    ]

    @Test("raw jobs are refused by the same rules", arguments: refusedRaw)
    func refusesRaw(_ headers: [(String, MessageBuilder.Value)], _ body: String, _ reason: Reason) throws {
        let defect = try Self.raw(headers, body: body).defect()
        #expect(defect.reason == reason, "\(defect.reason.rawValue): \(defect.detail)")
    }

    @Test("a topic with another suffix is refused, for broadcast channels belong to the bundle identifier")
    func topic() throws {
        let defect = try Self.enveloped(#""operation":"list_channels""#) { $0.routingKey += ".voip" }.defect()
        #expect(defect.reason == .topicDisallowed && defect.detail.contains(".voip"))
    }

    // MARK: Answers and results

    @Test(
        "an answer's body is read as far as it goes",
        arguments: [
            ("", nil, nil, false), ("no JSON", nil, nil, false), ("[]", nil, nil, false),
            (#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, 1, nil, false),
            (#"{"message-storage-policy":"1"}"#, nil, nil, false),
            (#"{"message-storage-policy":900}"#, nil, nil, false),
            (#"{"channels":[]}"#, nil, "[]", false),
            (#"{ "channels" : [ "YQ==" , "Yg==" ], "more": {} }"#, nil, #"["YQ==","Yg=="]"#, false),
            (#"{"channels":["YQ==",{"id":1},"Yg=="]}"#, nil, #"["YQ==","Yg=="]"#, true),
            (#"{"channels":["YQ==","Yg="#, nil, #"["YQ=="]"#, true), (#"{"channels":7}"#, nil, nil, false),
        ] as [(String, UInt8?, String?, Bool)])
    func answers(_ body: String, _ policy: UInt8?, _ identifiers: String?, _ isIncomplete: Bool) {
        let answer = BroadcastChannelAnswer(channelID: nil, reading: body.bytes)
        #expect(answer.storagePolicy == policy)
        #expect(answer.identifiers.map { String(decoding: $0, as: UTF8.self) } == identifiers)
        #expect(answer.isIncomplete == isIncomplete)
    }

    @Test(
        "an identifier that could not stand in a result is dropped", arguments: [[0xFF], [0x20], [0x41, 0x00], [0x7F]])
    func badIdentifier(_ bytes: [UInt8]) {
        #expect(BroadcastChannelAnswer(channelID: bytes, reading: []).channelID == nil)
        #expect(BroadcastChannelAnswer(channelID: "YQ==".bytes, reading: []).channelID == "YQ==".bytes)
    }

    @Test("a list ends at the limit, and says so")
    func longList() throws {
        let body = "{\"channels\":[" + (0...10_000).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
        let answer = BroadcastChannelAnswer(channelID: nil, reading: body.bytes)
        let listed = try JSONDecoder().decode([String].self, from: Data(try #require(answer.identifiers)))
        #expect(listed.count == 10_000 && listed.last == "9999" && answer.isIncomplete)
    }

    @Test("a result says what was asked and what came of it, beside all that results say")
    func result() throws {
        let job = try Self.enveloped(#""operation":"create_channel","storage_policy":1"#).job()
        let report = ResultReport(
            index: 0, final: FinalReport(.accepted, .none, status: 201),
            broadcastChannel: BroadcastChannelAnswer(channelID: Self.channelID.bytes), finishedAt: 5)
        let created = try parsed(report, job)
        #expect(Set(created.keys) == ResultReportTests.fields.union(Self.fields))
        #expect(created["operation"] as? String == "create_channel" && created["status"] as? Int == 201)
        #expect(created["channel_id"] as? String == Self.channelID && created["storage_policy"] as? Int == 1)
        #expect(created["apns_request_id"] as? String == MessageBuilder.id && created["apns_id"] is NSNull)
        #expect(created["channels"] is NSNull && created["device_token"] is NSNull)

        let list = try Self.enveloped(#""operation":"list_channels""#).job()
        let listing = ResultReport(
            index: 0, final: FinalReport(.accepted, .none, status: 200),
            broadcastChannel: BroadcastChannelAnswer(channelID: nil, reading: #"{"channels":["YQ==","Yg=="]}"#.bytes),
            finishedAt: 5)
        #expect(try parsed(listing, list)["channels"] as? [String] == ["YQ==", "Yg=="])

        let defect = try Self.enveloped(#""channel_id":"\#(Self.channelID)""#).defect()
        let refused = try parsed(ResultReport(index: 0, final: defect.report, finishedAt: 5), defect.job)
        #expect(refused["operation"] as? String == "broadcast" && refused["channel_id"] as? String == Self.channelID)
        #expect(refused["reason"] as? String == "PayloadEmpty" && refused["channels"] is NSNull)
    }

    /// The fields that only results of jobs about broadcast channels have.
    static let fields: Set<String> = ["operation", "channel_id", "storage_policy", "channels", "apns_request_id"]

    private func parsed(_ report: ResultReport, _ job: Job) throws -> [String: Any] {
        var buffer: [UInt8] = []
        report.appendBody(for: job, from: ResultOrigin(route: "example", worker: "w"), to: &buffer)
        return try #require(try JSONSerialization.jsonObject(with: Data(buffer)) as? [String: Any])
    }
}
