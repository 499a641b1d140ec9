import EventLoop
import FoundationEssentials
import LocalStack

/// A worker of a ring: a process of its own, whose admin server can be asked.
final class FaultWorker: Sendable {
    /// Its instance name.
    let name: String
    /// The process.
    let process: ChildProcess
    /// The port of its admin server.
    let adminPort: Int
    /// Where its log goes.
    let logFile: String

    /// A worker that was just started.
    init(name: String, process: ChildProcess, adminPort: Int, logFile: String) {
        self.name = name
        self.process = process
        self.adminPort = adminPort
        self.logFile = logFile
    }

    /// Whether `/readyz` says so; blocks for a moment.
    var isReady: Bool { (try? get("/readyz").status) == 200 }

    /// Whether `/readyz` says that it is not, and `/livez` that it still lives: silence is not an answer; blocks for a
    /// moment.
    var saysUnready: Bool { (try? get("/readyz").status) == 503 && (try? get("/livez").status) == 200 }

    /// Asks the admin server.
    ///
    /// - Parameters:
    ///   - path: What to ask for, for example `/metrics`.
    ///   - limit: How long it may block.
    /// - Returns: The status and the body.
    func get(_ path: String, within limit: Duration = .seconds(2)) throws -> (status: Int, body: String) {
        let socket = try Socket.connect(to: .loopback(port: adminPort), timeout: .seconds(2))
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard try socket.write(request.span) == request.count else { throw FaultFailure("\(name) takes no request") }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let deadline = ContinuousClock.now.advanced(by: limit)
        reading: while ContinuousClock.now < deadline {
            switch try socket.read(into: &buffer) {
            case .bytes(let count): answer += buffer[..<count]
            case .closed: break reading
            case .wouldBlock: _ = try socket.wait(for: .readable, timeout: .milliseconds(100))
            }
        }
        let text = String(decoding: answer, as: UTF8.self)
        let head = text.prefix { !$0.isNewline }.split(separator: " ")
        guard head.count > 1, let status = Int(head[1]) else { throw FaultFailure("\(name) does not answer \(path)") }
        return (status, text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? "")
    }

    /// The sum of a metric over its labels; blocks for a moment.
    ///
    /// - Parameters:
    ///   - name: The metric's name.
    ///   - labels: Text that must be among the labels, for example `kind="blocked"`.
    func metric(_ name: String, _ labels: String = "") throws -> Double {
        try metricsLines().reduce(0) { sum, line in
            guard line.hasPrefix("\(name){") || line.hasPrefix("\(name) "), line.contains(labels) else { return sum }
            return sum + (line.split(separator: " ").last.flatMap { Double($0) } ?? 0)
        }
    }

    /// How many samples a metric has; blocks for a moment.
    func samples(_ name: String) throws -> Double {
        Double(try metricsLines().count { $0.hasPrefix("\(name){") })
    }

    private func metricsLines() throws -> [Substring] {
        let (status, body) = try get("/metrics", within: .seconds(10))
        guard status == 200 else { throw FaultFailure("\(name) answers /metrics with \(status)") }
        return body.split(separator: "\n")
    }

    /// The most memory it ever had, in MiB; 0 once it has ended.
    var peakMemory: Int { memory("VmHWM:") }

    /// The memory it has that is its own, in MiB; 0 once it has ended.
    var ownMemory: Int { memory("RssAnon:") }

    private func memory(_ field: String) -> Int {
        guard let bytes = FileManager.default.contents(atPath: "/proc/\(process.processID)/status") else { return 0 }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        // Until it runs the program it has its parent's memory.
        guard lines.first == "Name:\tmartlet" else { return 0 }
        for line in lines where line.hasPrefix(field) {
            return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
        }
        return 0
    }

    /// Everything it logged.
    var log: String {
        String(decoding: FileManager.default.contents(atPath: logFile) ?? Data(), as: UTF8.self)
    }
}
