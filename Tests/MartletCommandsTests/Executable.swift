import FoundationEssentials
import LocalStack

/// The built program, run as a user runs it.
enum Executable {
    /// Where it stands: beside the test program.
    static let path: String = {
        let test = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "\(test.prefix(upTo: test.lastIndex(of: "/") ?? test.startIndex))/martlet"
    }()

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - input: Its standard input.
    ///   - environment: Its whole environment; none of the test's own variables reach it.
    ///   - intoFullDevice: Whether its standard output is a device on which every write fails.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], intoFullDevice: Bool = false
    ) throws -> ChildProcess.Outcome {
        if intoFullDevice {
            return try ChildProcess.run(
                "/bin/sh", ["-c", "exec \"$0\" \"$@\" >/dev/full", path] + arguments, environment: environment,
                input: Array(input.utf8), timeout: .seconds(50))
        }
        return try ChildProcess.run(
            path, arguments, environment: environment, input: Array(input.utf8), timeout: .seconds(50))
    }

    /// Starts it on a terminal of its own.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments, without apostrophes.
    ///   - environment: Its whole environment.
    ///   - output: The file for what the terminal shows, of both streams.
    static func startOnTerminal(
        _ arguments: [String], environment: [String: String] = [:], output: String
    ) throws -> ChildProcess {
        try ChildProcess.start(
            "/usr/bin/script", terminal(arguments), environment: environment, output: .file(output))
    }

    /// The arguments of the program `script` that runs it on a terminal.
    static func terminal(_ arguments: [String]) -> [String] {
        let words = ([path] + arguments).map { "'\($0)'" }
        return ["-qefc", "exec \(words.joined(separator: " "))", "/dev/null"]
    }
}
