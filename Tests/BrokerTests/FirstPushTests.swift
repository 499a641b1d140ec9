import EventLoop
import Foundation
import LocalStack
import Rig
import TestSupport
import Testing

@Suite("A first push, as the README has it", .serialized, .timeLimit(.minutes(2)))
struct FirstPushTests {
    /// The commands below the heading, as they are to be pasted.
    private static func commands() throws -> String {
        let readme = try String(contentsOfFile: "\(PythonEnvironment.repository)/README.md", encoding: .utf8)
        let section = try #require(readme.components(separatedBy: "## A first push").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
        return try #require(block.components(separatedBy: "```").first)
    }

    @Test("The README's commands push, and show the result and the dead letter")
    func firstPush() async throws {
        try await KillRing.run { ring in
            let worker = try ring.local.startWorker("worker-1", adminPort: try FreePort.next())
            let executable = URL(fileURLWithPath: try LocalRun.executable())
            let environment = [
                "PATH": "\(executable.deletingLastPathComponent().path):/usr/bin:/bin",
                "MARTLET_BROKER_URI": ring.local.broker.uri,
            ]
            let script = try Self.commands()
            let outcome = try await BlockingWork.run("shell") {
                try ChildProcess.run("/bin/sh", ["-c", script], environment: environment, timeout: .seconds(60))
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
