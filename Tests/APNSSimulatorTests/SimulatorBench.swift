import Foundation

@testable import APNSSimulator

/// Starts simulators in directories of their own.
enum SimulatorBench {
    /// Runs a body beside a simulator, then stops it and removes its directory.
    static func with(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }, _ body: (RunningSimulator) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)").path
        var configuration = SimulatorConfiguration(stateDirectory: directory)
        configuration.acceptsAnyKey = true
        configuration.adminPort = nil
        change(&configuration)
        let simulator = try await APNSSimulator.start(configuration)
        do {
            try await body(simulator)
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
        // Absent where the test chose a directory of its own.
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A push with a well-formed provider token made now.
    static func push(_ maker: TokenMaker, keyID: String = "ABC1234567", teamID: String = "DEF7654321") throws
        -> RequestBuilder
    {
        RequestBuilder().with(
            "authorization", try maker.bearer(issuedAt: maker.issuedAt, keyID: keyID, teamID: teamID))
    }

    /// Runs a program and returns what it printed. Waits on a thread of its own: the admin API needs the pool's.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try runBlocking(program, arguments) }) }
        }
    }

    private static func runBlocking(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String)
    {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
