import Foundation
import Testing
import Text

@testable import APNSSimulator

@Suite("Scenario files and their schema", .timeLimit(.minutes(1)))
struct ScenarioSchemaTests {
    /// The scenario files that come with the project.
    enum ScenarioFiles {
        static let directory =
            "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/config/scenarios"

        static var names: [String] {
            let all = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return all.filter { $0.hasSuffix(".yaml") }.sorted()
        }
    }

    private func schema() throws -> [String: Any] {
        let data = try Data(contentsOf: URL(filePath: ScenarioFiles.directory + "/scenario.schema.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("Every scenario file is good and says something", arguments: ScenarioFiles.names)
    func files(_ name: String) throws {
        let scenario = try Scenario(file: "\(ScenarioFiles.directory)/\(name)")
        #expect(!scenario.rules.isEmpty || !scenario.connections.isEmpty)
    }

    @Test("The scenarios people need are there")
    func names() {
        #expect(
            Set(ScenarioFiles.names).isSuperset(of: [
                "everyday.yaml", "storm.yaml", "outage.yaml", "goaway-storm.yaml", "half-open.yaml",
                "lost-answers.yaml", "gateway.yaml", "bad-address.yaml", "certificate-trouble.yaml", "strict.yaml",
                "far-away.yaml",
            ]))
    }

    @Test(
        "The schema has the very keys that are read",
        arguments: [
            ("", ScenarioKeys.file), ("limits", ScenarioKeys.limits), ("rule", ScenarioKeys.rule),
            ("match", ScenarioKeys.match), ("window", ScenarioKeys.window), ("rate", ScenarioKeys.rate),
            ("verdict", ScenarioKeys.verdict), ("latency", ScenarioKeys.latency), ("goaway", ScenarioKeys.goAway),
            ("connection", ScenarioKeys.connection), ("connectionMatch", ScenarioKeys.connectionMatch),
            ("goodbye", ScenarioKeys.goodbye), ("gateway", ScenarioKeys.gateway),
        ])
    func keys(_ part: String, _ keys: [String]) throws {
        let root = try schema()
        let definitions = try #require(root["$defs"] as? [String: Any])
        let described = part.isEmpty ? root : try #require(definitions[part] as? [String: Any])
        let properties = try #require(described["properties"] as? [String: Any])
        #expect(Set(properties.keys) == Set(keys))
        #expect(described["additionalProperties"] as? Bool == false)
    }

    @Test("The schema's defaults and words are the simulator's")
    func defaults() throws {
        let definitions = try #require(try schema()["$defs"] as? [String: [String: Any]])
        let limits = try #require(definitions["limits"]?["properties"] as? [String: [String: Any]])
        let expected: [(String, Int)] = [
            ("errors_until_shrink", GatewayLimits().errorsUntilShrink),
            ("errors_until_disconnect", GatewayLimits().errorsUntilDisconnect),
            ("bad_device_token_weight", GatewayLimits().badDeviceTokenWeight),
            ("connections_per_minute", GatewayLimits().connectionsPerMinute),
            ("header_list", GatewayLimits().headerList),
        ]
        for (name, value) in expected { #expect(limits[name]?["default"] as? Int == value, "\(name)") }
        let connection = try #require(definitions["connection"]?["properties"] as? [String: [String: Any]])
        #expect(connection["certificate"]?["enum"] as? [String] == ServerCertificateKind.allCases.map(\.rawValue))
        let verdict = try #require(definitions["verdict"]?["properties"] as? [String: [String: Any]])
        #expect(verdict["lose"]?["enum"] as? [String] == Verdict.Loss.allCases.map(\.rawValue))
    }

    @Test("All newer forms are read")
    func forms() throws {
        let scenario = try Scenario(
            yaml: """
                listen: [127.0.0.2]
                limits: { errors_until_shrink: 1, errors_until_disconnect: 2, bad_device_token_weight: 3,
                          connections_per_minute: 4, idle_timeout: 5s, device_pushes: { pushes: 6, per: 7s },
                          channel_requests: { pushes: 8, per: 9s },
                          token_update_interval: 0s, header_list: 9000 }
                rules:
                  - match: { address: 127.0.0.2, beyond: { pushes: 3, per: 1m } }
                    when: { from: 1s, until: 2s, every: 1h }
                    verdict: { lose: reset, streams: 4 }
                  - verdict: { freeze: true }
                  - verdict: { freeze: 2s }
                  - verdict: { delay: { min: 1ms, max: 2ms } }
                  - verdict: { delay: { mean: 3ms } }
                  - verdict: { delay: { median: 4ms, p99: 5ms } }
                  - verdict: { goaway: { text: hello, twice: true, stay_open: true } }
                connections:
                  - name: all
                    match: { address: 127.0.0.2, ratio: 0.5, first: 3 }
                    when: { from: 1s }
                    round_trip: 40ms
                    certificate: wrong-name
                    streams: 7
                    idle_timeout: 1m
                    close_after: 1h
                    goaway: { after: 1s, after_pushes: 2, reason: IdleTimeout }
                  - refuse: true
                  - mute: true
                """, name: "s")
        #expect(scenario.addresses == ["127.0.0.2"])
        let limits = try #require(scenario.limits)
        #expect(limits.errorsUntilShrink == 1 && limits.errorsUntilDisconnect == 2 && limits.badDeviceTokenWeight == 3)
        #expect(limits.connectionsPerMinute == 4 && limits.idleTimeout == 5000 && limits.headerList == 9000)
        #expect(limits.devicePushes == GatewayLimits.Rate(pushes: 6, period: 7000) && limits.tokenUpdateInterval == 0)
        #expect(limits.broadcastChannelRequests == GatewayLimits.Rate(pushes: 8, period: 9000))
        let first = scenario.rules[0]
        #expect(first.address == "127.0.0.2" && first.beyond == GatewayLimits.Rate(pushes: 3, period: 60_000))
        #expect(first.window == TimeWindow(from: 1000, until: 2000, every: 3_600_000))
        #expect(first.sequence.first.action == .lose(.reset) && first.sequence.first.streams == 4)
        #expect(scenario.rules[1].sequence.first.action == .freeze(milliseconds: nil))
        #expect(scenario.rules[2].sequence.first.action == .freeze(milliseconds: 2000))
        #expect(
            scenario.rules[3...5].map(\.sequence.first.latency) == [
                .uniform(min: 1, max: 2), .exponential(mean: 3), .logNormal(median: 4, percentile99: 5),
            ])
        var frame = Verdict.GoAway(reach: .accepted)
        (frame.text, frame.isRepeated, frame.staysOpen) = ("hello", true, true)
        #expect(scenario.rules[6].sequence.first.action == .goAway(frame))
        let rule = scenario.connections[0]
        #expect(rule.name == "all" && rule.address == "127.0.0.2" && rule.ratio == 0.5 && rule.first == 3)
        #expect(rule.window == TimeWindow(from: 1000))
        #expect(rule.plan.roundTrip == 40 && rule.plan.certificate == .wrongName && rule.plan.streams == 7)
        #expect(rule.plan.idleTimeout == 60_000 && rule.plan.closeAfter == 3_600_000)
        #expect(rule.plan.goodbye?.milliseconds == 1000 && rule.plan.goodbye?.pushes == 2)
        #expect(rule.plan.goodbye?.frame.reason == "IdleTimeout")
        #expect(scenario.connections[1].plan.isRefused && scenario.connections[2].plan.isMute)
    }

    @Test(
        "A mistake in the newer forms is told with its line and column",
        arguments: [
            ("rules:\n  - verdict: { delay: { min: 1s } }", "s:2:23: a drawn delay says"),
            ("rules:\n  - verdict: { delay: { min: 2s, max: 1s } }", "s:2:23: `max` is not less"),
            ("rules:\n  - verdict: { lose: much }", "s:2:22: `lose` is one of silent, reset, close"),
            ("rules:\n  - { when: { from: 2s, until: 1s }, verdict: { close: true } }", "s:2:13: `until` comes"),
            ("rules:\n  - { match: { beyond: { pushes: 1 } }, verdict: { close: true } }", "s:2:24: a rate says"),
            ("connections:\n  - goaway: { code: 0 }", "s:2:13: this `goaway` says `after`"),
            ("connections:\n  - certificate: none", "s:2:18: `certificate` is one of good"),
            ("connections:\n  - mute: maybe", "s:2:11: expected true or false"),
            ("limits: { header_list: -1 }", "s:1:24: expected a whole number from 0"),
            ("connections: 1", "s:1:14: `connections` is a list"),
        ])
    func mistakes(_ yaml: String, _ message: String) {
        let error = #expect(throws: SimulatorError.self) { try Scenario(yaml: yaml, name: "s") }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }
}
