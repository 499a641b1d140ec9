import ArgumentParser
import PushModel
import Rig
import Testing

@testable import MartletCommands

@Suite("Push: broadcast channels", .timeLimit(.minutes(1)))
struct PushBroadcastChannelTests {
    static let requests: [(PushBroadcastChannel, String, String, [String])] = [
        (
            .broadcast("YQ=="),
            #""operation":"broadcast","channel_id":"YQ==","topic":"com.a","environment":"development","#
                + #""payload":{"aps":{}}"#, #"{"aps":{}}"#, ["x-apns-operation", "apns-channel-id", "apns-topic"]
        ),
        (
            .create(.mostRecent),
            #""operation":"create_channel","storage_policy":1,"topic":"com.a","#
                + #""environment":"development""#, #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#,
            ["x-apns-operation", "apns-topic"]
        ),
        (
            .read("YQ=="),
            #""operation":"read_channel","channel_id":"YQ==","topic":"com.a","environment":"development""#,
            "", ["x-apns-operation", "apns-channel-id", "apns-topic"]
        ),
        (
            .list, #""operation":"list_channels","topic":"com.a","environment":"development""#, "",
            ["x-apns-operation", "apns-topic"]
        ),
        (
            .delete("YQ=="),
            #""operation":"delete_channel","channel_id":"YQ==","topic":"com.a","environment":"development""#,
            "", ["x-apns-operation", "apns-channel-id", "apns-topic"]
        ),
    ]

    @Test("each request makes one job, in both forms", arguments: requests)
    func jobs(_ request: PushBroadcastChannel, _ fields: String, _ rawBody: String, _ headers: [String]) throws {
        var draft = PushDraft(
            id: "j", tokens: [], broadcastChannel: request, topic: "com.a", payload: Array(#"{"aps":{}}"#.utf8))
        let enveloped = try draft.job()
        #expect(String(decoding: enveloped.body, as: UTF8.self) == #"{"id":"j",\#(fields)}"#)
        draft.raw = true
        let raw = try draft.job()
        #expect(String(decoding: raw.body, as: UTF8.self) == rawBody && raw.headers.map(\.name) == headers)
        #expect(enveloped.notifications == 1 && raw.notifications == 1)
        #expect(raw.routingKey == "development.normal.com.a")
    }

    @Test(
        "flags that contradict each other are refused",
        arguments: [
            ["a1b2", "--channel", "YQ=="], ["--channel", "YQ==", "--list-channels"], ["--channel", "YQ=="],
            ["--create-channel"], ["--storage-policy", "none"], ["--list-channels", "--alert", "x"],
            ["--list-channels", "--storage-policy", "none"], ["--list-channels", "--jobs", "f"],
        ])
    func refused(_ arguments: [String]) {
        let all = arguments + (arguments.contains("--jobs") ? [] : ["--topic", "com.a"])
        #expect(throws: (any Error).self) { try PushCommand.parse(all) }
    }

    @Test("a broadcast may have 5120 bytes")
    func size() throws {
        var draft = PushDraft(id: "j", tokens: [], broadcastChannel: .broadcast("YQ=="), topic: "com.a", payload: [])
        draft.payload = Array(#"{"a":"\#(String(repeating: "x", count: 5_112))"}"#.utf8)
        #expect(draft.payload.count == 5_120)
        #expect(try draft.job().notifications == 1)
        draft.payload = Array(#"{"a":"\#(String(repeating: "x", count: 5_113))"}"#.utf8)
        #expect(throws: CommandFailure.self) { try draft.job() }
    }

    @Test("lines about broadcast channels are jobs too, and results tell what was asked and what came")
    func lines() throws {
        let reader = JobLine(defaultTopic: "com.a", defaultEnvironment: .production, jobClass: .normal)
        for line in [#"{"channel_id":"YQ==","payload":{}}"#, #"{"operation":"list_channels"}"#] {
            #expect(try reader.job(Array(line.utf8), newID: { "n" }).notifications == 1)
        }
        #expect(throws: CommandFailure.self) { try reader.job(Array(#"{"operation":"push"}"#.utf8), newID: { "n" }) }
        let body =
            #"{"index":0,"outcome":"accepted","operation":"create_channel","channel_id":"YQ==","storage_policy":1}"#
        let record = try #require(ResultRecord.parse(Array(body.utf8)))
        #expect(record.line().contains("create_channel  broadcast channel YQ==  storage policy 1"))
    }
}
