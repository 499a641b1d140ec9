import FoundationEssentials
import Glibc
import LocalStack

/// A running program whose lines are read one by one and that can be told something.
final class TalkingProcess {
    struct Failure: Error {
        var message: String
    }

    let process: ChildProcess
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    init(
        _ arguments: [String], of program: String = Executable.path, environment: [String: String] = [:]
    ) throws {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(message: "no pipes") }
        // Other programs started meanwhile must not keep these open.
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer {
            close(toChild[0])
            close(fromChild[1])
        }
        input = toChild[1]
        output = fromChild[0]
        process = try ChildProcess.start(
            program, arguments, environment: environment, input: .descriptor(toChild[0]),
            output: .descriptor(fromChild[1]), error: .inherit)
    }

    deinit {
        close(input)
        close(output)
    }

    func tell(_ line: String) throws {
        let bytes = Array("\(line)\n".utf8)
        guard bytes.withUnsafeBytes({ write(input, $0.baseAddress, $0.count) }) == bytes.count else {
            throw Failure(message: "the program does not listen")
        }
    }

    /// The next line for which something holds, past all others.
    func line(where holds: (String) -> Bool) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeFirst(end + 1)
                if holds(line) { return line }
            }
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 20_000) == 1 else { throw Failure(message: "the program is silent") }
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure(message: "the program ended") }
            received += buffer[..<count]
        }
    }

    func event(_ name: String) throws -> String { try line { $0.hasPrefix("{\"event\":\"\(name)\"") } }
}
