import EventLoop
import Glibc
import LocalStack
import Rig

/// The demo's workers: processes of this executable. The owner of this value ends them.
struct DemoWorkers {
    /// One worker.
    struct Member {
        /// Its instance name.
        var name: String
        /// The port of its admin server; 0 for any free one, where the demo does not keep running.
        var adminPort: Int
        /// The process.
        var process: ChildProcess
        /// Whether it was killed on purpose.
        var isKilled = false
    }

    private let run: LocalRun
    private let isKept: Bool
    /// All workers in the order of their start.
    private(set) var members: [Member] = []

    /// Makes an empty crew.
    ///
    /// - Parameters:
    ///   - run: The broker and the simulator that the workers use.
    ///   - isKept: Whether people will want to look at their admin servers.
    init(_ run: LocalRun, isKept: Bool) {
        self.run = run
        self.isKept = isKept
    }

    /// The workers that were not killed.
    var alive: [Member] { members.filter { !$0.isKilled } }

    /// Starts one more worker.
    ///
    /// - Returns: Its name.
    @discardableResult
    mutating func add() throws -> String {
        let name = "worker-\(members.count + 1)"
        let port = isKept ? try FreePort.next() : 0
        members.append(Member(name: name, adminPort: port, process: try run.startWorker(name, adminPort: port)))
        return name
    }

    /// Kills the first worker that was not killed yet with SIGKILL, as a crash would.
    ///
    /// - Returns: Its name; nil without such a worker.
    mutating func killFirst() -> String? {
        guard let index = members.firstIndex(where: { !$0.isKilled }) else { return nil }
        members[index].isKilled = true
        members[index].process.signal(SIGKILL)
        return members[index].name
    }

    /// Makes sure that no worker has ended by itself.
    ///
    /// - Throws: `CommandFailure` with the end of the log of a worker that has.
    func check() throws(CommandFailure) {
        for member in alive where !member.process.isRunning {
            throw CommandFailure(
                .internalFault, "\(member.name) ended by itself; its last words:\n\(lastWords(of: member.name))")
        }
    }

    /// The end of a worker's log.
    func lastWords(of name: String) -> String {
        let tail = try? ChildProcess.run("/usr/bin/tail", ["-n", "8", run.logFile(of: name)], timeout: .seconds(5)).text
        return tail.map { $0.isEmpty ? "nothing was logged" : $0 } ?? "there is no log"
    }

    /// Asks all workers to finish and leave, and waits until they have ended.
    ///
    /// - Parameter grace: How long they may take before they are killed. With zero they are killed without asking.
    func stop(grace: Duration) async {
        let processes = alive.map(\.process)
        _ = try? await BlockingWork.run("demo-stop") {
            if grace > .zero { for process in processes { process.signal(SIGTERM) } }
            for process in processes { process.terminate(grace: grace) }
        }
    }
}
