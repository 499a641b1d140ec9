import APNSSimulator
import EventLoop
import Foundation
import LocalStack
import Rig
import TestSupport
import Testing

@testable import MartletCommands

@Suite("A first push, as the README has it", .serialized, .timeLimit(.minutes(2)))
struct FirstPushTests {
    /// The commands below the heading, as they are to be pasted.
    private static func commands() throws -> String {
        let readme = try String(contentsOfFile: "\(PythonEnvironment.repository)/README.md", encoding: .utf8)
        let section = try #require(readme.components(separatedBy: "## A first push").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
        return try #require(block.components(separatedBy: "```").first)
    }

    /// A device token that nothing is wrong with, as the demo's devices have one.
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f1"

    /// The lines that the demo prints to be pasted, for the broker of a ring.
    private static func hints(_ local: LocalRun) throws -> [String] {
        let device = DemoHints.Device(owner: "Ada", token: token, port: 0, authority: "ca.pem", state: "state")
        return DemoHints.lines(
            martlet: try LocalRun.executable(), broker: local.broker.uri,
            management: local.broker.managementURI, configuration: local.configurationFile,
            control: "rabbitmqctl", gateway: local.simulator.port, admin: local.simulator.adminPort ?? 0,
            device: device, workers: []
        ).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("The demo's lines and the README's commands push, and show the result and the dead letter")
    func firstPush() async throws {
        try await KillRing.run { ring in
            let worker = try ring.local.startWorker("worker-1", adminPort: try FreePort.next())
            let hints = try Self.hints(ring.local)
            let exports = hints.filter { $0.hasPrefix("export ") }
            // The README speaks of three.
            #expect(exports.count == 3)
            let push = try #require(hints.first { $0.hasPrefix("martlet push ") })
            // Of the README's commands one fails, as it says: its device token is dead.
            let script = (["set -e"] + exports + [push, "set +e", try Self.commands()]).joined(separator: "\n")
            let outcome = try await BlockingWork.run("shell") {
                try ChildProcess.run(
                    "/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"], timeout: .seconds(60))
            }
            let text = outcome.text
            #expect(outcome.status == 0, "\(outcome.errorText)")
            #expect(text.contains("accepted"))
            #expect(text.contains("dead_token"))
            #expect(text.contains("Unregistered"))
            try await ring.stop([worker])
        }
    }
}
