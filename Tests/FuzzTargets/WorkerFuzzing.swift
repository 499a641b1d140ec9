import EventLoop
import Foundation
import PushModel
import Text
import WorkerSettings

@testable import PushWorker
@testable import Topology

/// What stands in a worker's files, and what the broker's management API answers.
enum WorkerFuzzing {
    /// A directory for one input; it goes with everything in it when the closure returns.
    private static func withDirectory(_ body: (_ path: String) -> Void) {
        var path = Array("\(FileManager.default.temporaryDirectory.path)/martlet-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { preconditionFailure("a directory can always be made") }
        let directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        body(directory)
        for name in ["lane-0.log", "lock", "martlet.yaml"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count, "a file can always be written")
        close(descriptor)
    }

    /// The first byte says whether the records go through a file (1), the rest are records. Chance finds no checksum:
    /// what is not a record is made one, as if a worker had written it after those that are.
    static func journal(_ bytes: [UInt8]) {
        guard let options = bytes.first else { return }
        let file = Array(bytes.dropFirst())
        var records: [JournalRecord] = []
        var written: [JournalRecord] = []
        for index in 0..<file.count / JournalRecord.length {
            let span = file.span.extracting(index * JournalRecord.length..<(index + 1) * JournalRecord.length)
            if let record = JournalRecord(span) { records.append(record) } else { written.append(Self.record(span)) }
        }
        for record in records + written {
            var again: [UInt8] = []
            record.append(to: &again)
            precondition(JournalRecord(again.span) == record, "what is written can be read")
        }
        // Time begins in 1970, also for the clock of a broken machine.
        let now = max(0, (records + written).first?.finishedAt ?? 0)
        if options & 1 == 0 {
            check(JournalMemory(records + written, now: now), records + written, now)
            return
        }
        withDirectory { directory in
            write(file, to: "\(directory)/lane-0.log")
            var notes: [UInt8] = []
            for record in written { record.append(to: &notes) }
            var journalFile = JournalFile(directory: directory)
            let isWritten = journalFile.append(notes, now: MonotonicTime(nanoseconds: 0))
            precondition(isWritten && journalFile.trouble == nil)
            guard let journal = try? Journal(directory, now: now) else {
                preconditionFailure("a journal of any content can be opened")
            }
            let fresh = (records + written).count { JournalMemory.isFresh($0, now: now) }
            precondition(journal.count == fresh, "every record of use is remembered")
            for record in records + written { _ = journal.take(record.key, now: now) }
        }
    }

    /// Each record of use is given out once, and nothing else is.
    private static func check(_ remembered: JournalMemory, _ records: [JournalRecord], _ now: Int64) {
        var memory = remembered
        let fresh = records.filter { JournalMemory.isFresh($0, now: now) }
        precondition(memory.count == fresh.count && fresh.allSatisfy { memory.knows($0.key.high, now: now) })
        for record in fresh {
            guard let taken = memory.take(record.key, now: now) else { preconditionFailure("a record is lost") }
            precondition(taken.key == record.key && JournalMemory.isFresh(taken, now: now))
        }
        for record in records {
            precondition(memory.take(record.key, now: now) == nil && !memory.knows(record.key.high, now: now))
        }
    }

    private static func record(_ bytes: Span<UInt8>) -> JournalRecord {
        func word(_ index: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[index * 8 + $1]) << UInt64($1 * 8) }
        }
        let time = Int64(UInt32(truncatingIfNeeded: word(3)))
        return JournalRecord(
            key: UUIDBytes(high: word(0), low: word(1)), finishedAt: Int64(bitPattern: word(2)),
            apnsMilliseconds: time == Int64(UInt32.max) ? nil : time)
    }

    /// A configuration file, and after it, each after a zero byte, variables of the environment as `NAME=value`. The
    /// one file that is there to be named is the configuration itself, `martlet.yaml`.
    static func configuration(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        var environment: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            environment[String(decoding: pair[0], as: UTF8.self)] = String(decoding: pair[1], as: UTF8.self)
        }
        withDirectory { directory in
            let path = "\(directory)/martlet.yaml"
            write(Array(parts[0]), to: path)
            switch ConfigurationLoader.load(file: path, environment: environment, instanceName: { "fuzz" }) {
            case .failure(let errors):
                precondition(!errors.all.isEmpty && errors.all.allSatisfy { !$0.message.isEmpty }, "errors say why")
            case .success(let configuration):
                precondition(!configuration.routes.isEmpty && !configuration.instance.isEmpty)
                _ = try? configuration.broker.endpoints()
                let topology = configuration.topology(virtualHost: "/")
                precondition(!topology.definitions().isEmpty && !topology.compared(with: LiveTopology()).drift.isEmpty)
                _ = configuration.routesTable
            }
        }
    }

    /// A message of the fleet's queue. What was read is written and read again, where that is not too long.
    static func fleetReport(_ bytes: [UInt8]) {
        if let report = WorkerReport(parsing: bytes) {
            precondition(!report.instance.isEmpty && report.routes.count <= WorkerReport.mostRoutes)
            let written = report.json
            precondition(
                written.count > WorkerReport.maximumLength || WorkerReport(parsing: written) == report,
                "what is written can be read")
        }
        guard let report = FleetReport(parsing: bytes) else { return }
        precondition(bytes.count <= FleetReport.maximumLength && !report.instance.isEmpty)
        let written = report.json
        precondition(
            written.count > FleetReport.maximumLength || FleetReport(parsing: written) == report,
            "what is written can be read")
    }

    /// Messages of the control stream, one after the other with a zero byte in between. What was read is written and
    /// read again. The first bytes of all are the reference of a job that the commands decide about.
    static func controlCommand(_ bytes: [UInt8]) {
        let now: Int64 = 1_800_000_000_000
        var state = ControlState()
        for part in bytes.split(separator: 0, omittingEmptySubsequences: false) {
            guard let command = ControlCommand(parsing: Array(part)) else { continue }
            precondition(part.count <= ControlCommand.maximumLength && command.action.applies(to: command.target))
            let written = command.json
            precondition(
                written.count > ControlCommand.maximumLength || ControlCommand(parsing: written) == command,
                "what is written can be read")
            state.apply(command, at: now)
        }
        let inForce = state.inForce(at: now)
        precondition(inForce.allSatisfy { $0.until.map { $0 > now } ?? true }, "what is over is not in force")
        _ = state.campaigns(at: now).fate(of: bytes.span.extracting(first: 64), at: now)
    }

    private static let topology = BrokerTopology(
        routes: [TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop"], highLane: true)],
        tiers: [RetryTier(milliseconds: 2_000)])

    /// The answers about exchanges, queues, bindings, policies and operator policies, one after the other with a zero byte
    /// in between.
    static func management(_ bytes: [UInt8]) {
        let answers = bytes.split(separator: 0, maxSplits: 4, omittingEmptySubsequences: false).map { Data($0) }
        func list<Object: Decodable>(_ index: Int, of type: Object.Type) -> [Object] {
            guard index < answers.count else { return [] }
            return (try? JSONDecoder().decode([Object].self, from: answers[index])) ?? []
        }
        let live = LiveTopology(
            exchanges: list(0, of: ManagementAnswers.Exchange.self), queues: list(1, of: ManagementAnswers.Queue.self),
            bindings: list(2, of: ManagementAnswers.Binding.self), policies: list(3, of: ManagementAnswers.Policy.self),
            operatorPolicies: list(4, of: ManagementAnswers.Policy.self))
        let admin = AdminCommands(ManagementPlace(host: "host", port: 1, user: "user"), virtualHost: "/")
        let isMendable = topology.compared(with: live).drift.allSatisfy { row in
            _ = admin.two(row.remedies)
            // Only a queue that another configuration may use has no command.
            guard !row.remedies.isEmpty else { return row.kind == .stale && row.object.hasPrefix("queue ") }
            return !admin.one(row.remedies).isEmpty
        }
        precondition(isMendable, "each difference can be mended")
        _ = topology.compared(with: live).plan(prunes: true)
    }
}
