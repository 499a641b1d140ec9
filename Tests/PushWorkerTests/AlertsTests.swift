import Foundation
import PushModel
import Testing

@testable import PushWorker

@Suite("The alerting rules for Prometheus", .timeLimit(.minutes(1)))
struct AlertsTests {
    private static let rules = url(of: "../../config/prometheus/alerts.yaml")

    private static func url(of path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: path).standardized
    }

    @Test("promtool takes them for rules, and each alert fires when it should and not when all is well")
    func promtool() async throws {
        let check = try await run("/usr/bin/promtool", ["check", "rules", Self.rules.path])
        #expect(check.status == 0, "\(check.output)")
        let test = try await run("/usr/bin/promtool", ["test", "rules", Self.url(of: "alerts.yaml").path])
        #expect(test.status == 0, "\(test.output)")
    }

    @Test("Each alert has a test, a summary and what to do about it")
    func complete() throws {
        let text = try String(contentsOf: Self.rules, encoding: .utf8)
        let alerts = text.split(separator: "- alert: ").dropFirst()
        #expect(alerts.count > 1)
        let tests = try String(contentsOf: Self.url(of: "alerts.yaml"), encoding: .utf8)
        for alert in alerts {
            let name = alert.prefix { !$0.isNewline }
            #expect(alert.contains("summary:") && alert.contains("description:"), "\(name)")
            #expect(tests.contains("alertname: \(name)\n        exp_alerts:"), "\(name) never fires in a test")
            #expect(tests.contains("alertname: \(name) }"), "\(name) always fires in tests")
        }
    }

    @Test("They ask for nothing but metrics that workers have")
    func metrics() throws {
        let rules = try String(contentsOf: Self.rules, encoding: .utf8)
        let asked = Set(rules.matches(of: /martlet_[a-z_]+/).map { String($0.output) })
        #expect(asked.count > 5)
        let credential = CredentialStatus(name: "shop", version: 1, notAfter: 2)
        let text = sampleMetrics().text(sampleSnapshot(), routes: sampleRoutes, credentials: [credential])
        let written = String(decoding: text, as: UTF8.self)
        for name in asked { #expect(written.contains("\n\(name){"), "\(name)") }
    }
}
