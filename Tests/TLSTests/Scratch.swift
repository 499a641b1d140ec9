import Foundation

/// A directory that lives as long as a test, and the openssl(1) command within.
final class Scratch {
    /// What openssl(1) said when it failed.
    struct CommandFailed: Error {
        let output: String
    }

    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    /// The full path of a file in the directory.
    func path(_ name: String) -> String { directory.appending(path: name).path(percentEncoded: false) }

    func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: name)))
    }

    /// Runs openssl(1) in the directory and returns what it prints to standard output.
    func openssl(_ arguments: String...) throws -> String { try openssl(arguments) }

    /// Runs openssl(1) in the directory and returns what it prints to standard output.
    func openssl(_ arguments: [String]) throws -> String {
        let process = try start(arguments)
        let output = process.output.fileHandleForReading.readDataToEndOfFile()
        process.process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        guard process.process.terminationStatus == 0 else { throw CommandFailed(output: text) }
        return text
    }

    /// Starts openssl(1) in the directory; standard output and error are one pipe.
    func start(_ arguments: [String]) throws -> (process: Process, input: Pipe, output: Pipe) {
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = input
        process.standardOutput = output
        process.standardError = arguments.first == "s_client" ? output : FileHandle.nullDevice
        try process.run()
        return (process, input, output)
    }
}
