import ArgumentParser
import Foundation
import Simulation
import Synchronization

/// Runs simulated systems, one seed after the other, on all cores.
@main
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run whole systems under seeds, and stop at the first that breaks a promise.",
        discussion: "A seed decides everything: what is published, what breaks, and when. The same seed does the same.")

    @Option(help: "The first seed.") var seed: UInt64 = 1
    @Option(help: "How many seeds; as many as the time allows by default.") var count: Int = .max
    @Option(help: "For how many seconds new seeds begin.") var seconds = 60
    @Option(help: "How many seeds run at once.") var cores = ProcessInfo.processInfo.activeProcessorCount
    @Option(help: "A file with seeds that are tried first: a number a line, and why it is kept.") var kept: String?
    @Option(help: "How many of the seeds are tried again, each in a process of its own, and must do the same.")
    var again = 0
    @Option(help: "Leave out faults of this seed for as long as it still fails.") var shrink: UInt64?
    @Option(help: "Run this seed alone, and show its last events.") var trace: UInt64?
    @Option(help: "How many of the last events are shown.") var lines = 60
    @Option(help: "Let a worker push --count notifications without a fault, for a count of its instructions.")
    var measure: CountedWork?
    @Flag(help: "Print a line for each seed.") var verbose = false

    func run() throws {
        try Self.hashEquallyInAllProcesses()
        if let shrink { return try Shrinking(seed: shrink).run() }
        if let measure { return try measure.run(notifications: count) }
        if let trace { return try Self.show(trace, lines) }
        let runs = SeedRuns(
            try kept.map(Self.seeds) ?? [], from: seed, count: count,
            until: Date(timeIntervalSinceNow: Double(seconds)), verbose)
        DispatchQueue.concurrentPerform(iterations: max(1, min(cores, count))) { _ in runs.work() }
        print(runs.summary)
        if let failed = runs.failed { try Self.show(failed, lines) }
        for (seed, digest) in runs.digests.sorted(by: { $0.key < $1.key }).prefix(again) {
            let other = try Self.digest(of: seed)
            guard other != digest else { continue }
            print("seed \(seed): another process did something else, \(other) instead of \(digest)")
            throw ExitCode.failure
        }
    }

    /// The seeds of a file.
    private static func seeds(in file: String) throws -> [UInt64] {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        return try lines.filter { !$0.hasPrefix("#") }.map { line in
            guard let seed = line.split(separator: " ").first.flatMap({ UInt64($0) }) else {
                throw ValidationError("\(file): a line begins with a seed, and this one does not: \(line)")
            }
            return seed
        }
    }

    /// The digest of what a process of its own does with a seed.
    private static func digest(of seed: UInt64) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--seed", "\(seed)", "--count", "1", "--verbose"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let line = text.split(separator: "\n").first { $0.hasPrefix("seed \(seed): ") } ?? ""
        return line.split(separator: " ").last.map(String.init) ?? text
    }

    /// Begins anew with an environment in which dictionaries have the same order in each process.
    private static func hashEquallyInAllProcesses() throws {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name) == nil else { return }
        setenv(name, "1", 1)
        var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", &arguments)
        throw ValidationError("the program cannot begin anew with \(name)=1: set it")
    }

    /// Runs one seed, and shows its last events.
    private static func show(_ seed: UInt64, _ lines: Int) throws {
        let simulation = try Simulation(seed: seed, traced: lines)
        do {
            let report = try simulation.run()
            if Isolation.isDue(seed) { try Isolation(seed: seed).run() }
            print("\(simulation.trace)\n\nseed \(seed): good, digest \(String(report.digest, radix: 16))")
            return
        } catch {
            print("\(simulation.trace)\n\nseed \(seed): \(error)")
        }
        print("again: make simulate SEED=\(seed); with fewer faults: simulate --shrink \(seed)")
        throw ExitCode.failure
    }
}

extension CountedWork: ExpressibleByArgument {}

/// Seeds that several threads work through together.
private final class SeedRuns: Sendable {
    private struct State {
        var kept: [UInt64]
        var next: UInt64
        var left: Int
        var failed: UInt64?
        var seeds = 0
        var digests: [UInt64: String] = [:]
        var total = Simulation.Report()
    }

    private let state: Mutex<State>
    private let start = Date()
    private let end: Date
    private let isVerbose: Bool

    init(_ kept: [UInt64], from seed: UInt64, count: Int, until end: Date, _ isVerbose: Bool) {
        state = Mutex(State(kept: kept.reversed(), next: seed, left: count))
        (self.end, self.isVerbose) = (end, isVerbose)
    }

    var failed: UInt64? { state.withLock(\.failed) }
    var digests: [UInt64: String] { state.withLock(\.digests) }

    var summary: String {
        let (seeds, total) = state.withLock { ($0.seeds, $0.total) }
        let rate = total.seconds / max(0.001, Date().timeIntervalSince(start))
        return "\(seeds) seeds, \(Int(total.seconds / 3_600)) virtual hours (\(Int(rate)) s a second), "
            + "\(total.events) events, \(total.jobs) jobs, \(total.results) results, \(total.faults) faults, "
            + "\(total.kills) kills"
    }

    func work() {
        while let seed = take() {
            do {
                note(try Self.run(seed), of: seed)
            } catch {
                state.withLock { $0.failed = min($0.failed ?? .max, seed) }
            }
        }
    }

    /// Runs a seed.
    private static func run(_ seed: UInt64) throws -> Simulation.Report {
        if Isolation.isDue(seed) { try Isolation(seed: seed).run() }
        return try Simulation(seed: seed).run()
    }

    private func take() -> UInt64? {
        state.withLock { state in
            guard state.failed == nil else { return nil }
            if let seed = state.kept.popLast() { return seed }
            guard state.left > 0, Date() < end else { return nil }
            state.left -= 1
            defer { state.next += 1 }
            return state.next
        }
    }

    private func note(_ report: Simulation.Report, of seed: UInt64) {
        let line: String? = state.withLock { state in
            state.seeds += 1
            state.total.seconds += report.seconds
            state.total.events += report.events
            state.total.jobs += report.jobs
            state.total.results += report.results
            state.total.faults += report.faults
            state.total.kills += report.kills
            state.digests[seed] = String(report.digest, radix: 16)
            if isVerbose {
                return "seed \(seed): \(Int(report.seconds)) s, \(report.turns) turns, \(report.jobs) jobs, "
                    + "\(report.faults) faults, \(report.kills) kills, digest \(String(report.digest, radix: 16))"
            }
            return state.seeds.isMultiple(of: 100) ? "\(state.seeds) seeds, \(Int(state.total.seconds)) s" : nil
        }
        if let line { print(line) }
    }
}

/// Finds the faults without which a seed no longer fails.
private struct Shrinking {
    let seed: UInt64

    func run() throws {
        var skipped: Set<Int> = []
        guard let (count, first) = try failure(skipped) else {
            print("seed \(seed) does not fail")
            return
        }
        print("seed \(seed): \(first)")
        var size = max(1, count / 2)
        while size >= 1 {
            for start in stride(from: 0, to: count, by: size) {
                let more = skipped.union(start..<min(count, start + size))
                guard more.count > skipped.count, try failure(more) != nil else { continue }
                skipped = more
                print("still fails without \(skipped.count) of \(count) faults")
            }
            size /= 2
        }
        let simulation = try Simulation(seed: seed, skipping: skipped, traced: 60)
        do { _ = try simulation.run() } catch { print("\(simulation.trace)\n\nseed \(seed): \(error)") }
        throw ExitCode.failure
    }

    /// How many faults there were, and what was found; nil if nothing was.
    private func failure(_ skipped: Set<Int>) throws -> (count: Int, finding: String)? {
        let simulation = try Simulation(seed: seed, skipping: skipped)
        do {
            _ = try simulation.run()
            return nil
        } catch {
            return (simulation.faults, "\(error)")
        }
    }
}
