import ArgumentParser
import PushModel
import Testing

@testable import MartletCommands

@Suite("Push: from flags to a payload", .timeLimit(.minutes(1)))
struct PushPayloadTests {
    static let shapes: [([String], String)] = [
        (["--alert", "text"], #"{"aps":{"alert":"text"}}"#),
        (
            ["--alert", "text", "--title", "t", "--subtitle", "s"],
            #"{"aps":{"alert":{"title":"t","subtitle":"s","body":"text"}}}"#
        ),
        (
            ["--loc-key", "K", "--loc-arg", "a", "--loc-arg", "b", "--title-loc-key", "T", "--title-loc-arg", "c"],
            #"{"aps":{"alert":{"title-loc-key":"T","title-loc-args":["c"],"loc-key":"K","loc-args":["a","b"]}}}"#
        ),
        (
            ["--subtitle-loc-key", "S", "--subtitle-loc-arg", "d", "--launch-image", "i.png"],
            #"{"aps":{"alert":{"subtitle-loc-key":"S","subtitle-loc-args":["d"],"launch-image":"i.png"}}}"#
        ),
        (["--badge", "0", "--sound", "default"], #"{"aps":{"badge":0,"sound":"default"}}"#),
        (
            ["--sound", "siren.aiff", "--critical", "--volume", "0.5"],
            #"{"aps":{"sound":{"critical":1,"name":"siren.aiff","volume":0.5}}}"#
        ),
        (["--critical"], #"{"aps":{"sound":{"critical":1,"name":"default"}}}"#),
        (
            ["--thread-id", "t", "--category", "c", "--content-available", "--mutable-content"],
            #"{"aps":{"thread-id":"t","category":"c","content-available":1,"mutable-content":1}}"#
        ),
        (
            ["--target-content-id", "w", "--interruption-level", "passive", "--relevance-score", "0.5"],
            #"{"aps":{"target-content-id":"w","interruption-level":"passive","relevance-score":0.5}}"#
        ),
        (["--filter-criteria", "f", "--content-changed"], #"{"aps":{"content-changed":true,"filter-criteria":"f"}}"#),
        (
            ["--alert", "x", "--url-arg", "boarding", "--url-arg", "A998"],
            #"{"aps":{"alert":"x","url-args":["boarding","A998"]}}"#
        ),
        (
            ["--alert", "x", "--data", "order=4711", "--data", #"who={"name":"é"}"#, "--data", #"a="b=c""#],
            #"{"aps":{"alert":"x"},"order":4711,"who":{"name":"é"},"a":"b=c"}"#
        ),
        (
            [
                "--event", "update", "--timestamp", "1795264800", "--content-state", #"{"goals":2}"#, "--stale-date",
                "1795264900",
            ],
            #"{"aps":{"timestamp":1795264800,"event":"update","content-state":{"goals":2},"stale-date":1795264900}}"#
        ),
        (
            ["--event", "end", "--timestamp", "1795264800", "--dismissal-date", "1795264900"],
            #"{"aps":{"timestamp":1795264800,"event":"end","dismissal-date":1795264900}}"#
        ),
        (
            [
                "--event", "start", "--timestamp", "1795264800", "--content-state", "{}", "--attributes-type", "Match",
                "--attributes", #"{"home":"A"}"#, "--input-push-channel", "YQ==", "--title-loc-key", "T",
                "--title-loc-arg", "a", "--alert", "go", "--sound", "s.aiff",
            ],
            #"{"aps":{"alert":{"title":{"loc-key":"T","loc-args":["a"]},"body":"go","sound":"s.aiff"},"timestamp":1795264800,"#
                + #""event":"start","content-state":{},"attributes-type":"Match","attributes":{"home":"A"},"#
                + #""input-push-channel":"YQ=="}}"#
        ),
        (
            ["--event", "start", "--timestamp", "1795264800", "--input-push-token"],
            #"{"aps":{"timestamp":1795264800,"event":"start","input-push-token":1}}"#
        ),
    ]

    /// The payload of a command line.
    static func payload(_ arguments: [String]) throws -> PushPayload {
        let command = try PushCommand.parse(["a1b2", "--topic", "com.example.app"] + arguments)
        return command.content.shape(command.activity.content(now: 1_795_264_800_000))
    }

    @Test("every key of aps has its flag, in Apple's shape", arguments: shapes)
    func shape(_ arguments: [String], _ json: String) throws {
        #expect(String(decoding: try Self.payload(arguments).json, as: UTF8.self) == json)
    }

    @Test("an event without a timestamp is stamped with the present")
    func timestamp() throws {
        let json = try Self.payload(["--event", "update", "--content-state", "{}"]).json
        #expect(String(decoding: json, as: UTF8.self).contains(#""timestamp":1795264800"#))
    }

    @Test(
        "what is not JSON, or not a member, is refused before anything is published",
        arguments: [
            ["--data", "order"], ["--data", "=1"], ["--data", "who=Bob"], ["--data", "aps={}"],
            ["--content-state", "[]"],
            ["--content-state", "{"], ["--attributes", "1"], ["--alert", "x", "--payload", "f"], [],
        ])
    func refused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try Self.payload(arguments) }
    }

    @Test("nothing given is an empty payload")
    func empty() { #expect(PushPayload().isEmpty) }
}
