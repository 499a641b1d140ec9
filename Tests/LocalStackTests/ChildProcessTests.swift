import Glibc
import Testing

@testable import LocalStack

@Suite("Child processes", .timeLimit(.minutes(1)))
struct ChildProcessTests {
    @Test("A program's output, errors and status are collected", arguments: [0, 1, 66])
    func collected(status: Int32) throws {
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-c", "cat; echo bad >&2; exit \(status)"], input: Array("good".utf8))
        #expect(outcome.text == "good")
        #expect(outcome.errorText == "bad\n")
        #expect(outcome.ending == .exited(status))
    }

    @Test("More input and output than any pipe holds pass through unchanged")
    func large() throws {
        let bytes = [UInt8](repeating: 0x61, count: 3 << 20)
        #expect(try ChildProcess.run("/bin/cat", input: bytes).output == bytes)
    }

    @Test("A program that outstays its time is killed and reported")
    func outstayed() {
        let error = #expect(throws: LocalStackError.self) {
            try ChildProcess.run("/bin/cat", ["/dev/zero"], timeout: .zero)
        }
        #expect(error?.code == .timedOut)
    }

    @Test("A missing program is named")
    func missing() {
        let error = #expect(throws: LocalStackError.self) { try ChildProcess.start("/nonexistent/program") }
        #expect(error?.code == .programMissing)
        #expect(error?.message.contains("/nonexistent/program") == true)
    }

    @Test("A signal's number is the ending, and a second wait tells the same")
    func signalled() throws {
        let process = try ChildProcess.start("/bin/cat", ["/dev/zero"])
        #expect(process.isRunning)
        process.signal(SIGKILL)
        #expect(process.wait(timeout: .seconds(10)) == .signalled(SIGKILL))
        #expect(process.wait(timeout: .zero) == .signalled(SIGKILL))
    }

    @Test("Dropping the last reference ends the program")
    func dropped() throws {
        var process: ChildProcess? = try ChildProcess.start("/bin/cat", ["/dev/zero"])
        let processID = try #require(process?.processID)
        process = nil
        #expect(kill(processID, 0) == -1)
    }

    @Test("A temporary directory is private and goes with its last reference, files and links included")
    func temporary() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory?.path)
        let victim = try TemporaryDirectory()
        let kept = try victim.write("kept", to: "file")
        try directory?.makeDirectory("a")
        let file = try #require(try directory?.write("secret", to: "a/key.pem"))
        #expect(symlink(victim.path, "\(path)/link") == 0)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        directory = nil
        #expect(access(path, F_OK) == -1)
        #expect(access(kept, F_OK) == 0)
    }

    @Test("When the owner is gone, what it had not taken off the list is killed and removed, and nothing else")
    func orphans() throws {
        let processes = try (0..<3).map { _ in try ChildProcess.start("/bin/cat", ["/dev/zero"]) }
        let directories = try (0..<3).map { _ in try TemporaryDirectory() }
        for directory in directories { try directory.write("x", to: "file") }
        var list = ""
        for index in 0..<3 { list += "+group \(processes[index].processID)\n+path \(directories[index].path)\n" }
        list += "-group \(processes[1].processID)\n-path \(directories[1].path)\n"
        #expect(try ChildProcess.run("/bin/sh", ["-c", OrphanGuard.script], input: Array(list.utf8)).status == 0)
        #expect(processes[0].wait(timeout: .seconds(10)) == .signalled(SIGKILL))
        #expect(processes[1].isRunning)
        #expect(processes[2].wait(timeout: .seconds(10)) == .signalled(SIGKILL))
        #expect(directories.map { access($0.path, F_OK) } == [-1, 0, -1])
    }

    @Test("Free ports are all different and can be bound")
    func ports() throws {
        let ports = try FreePort.several(20)
        #expect(Set(ports).count == 20)
        #expect(ports.allSatisfy(FreePort.isFree))
    }
}
