import ArgumentParser
import Glibc
import Simulation

/// Runs simulated systems, one seed after the other.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run whole systems under seeds, and stop at the first that breaks a promise.")

    @Option(help: "The first seed.") var seed: UInt64 = 1
    @Option(help: "How many seeds; as many as the time allows by default.") var count: Int?
    @Option(help: "For how many seconds new seeds begin.") var seconds = 60
    @Flag(help: "Print a line for each seed.") var verbose = false

    func run() throws {
        let start = time(nil)
        var (seeds, virtual, events, jobs, results, kills) = (0, 0.0, 0, 0, 0, 0)
        var seed = seed
        while seeds < count ?? .max, time(nil) - start < seconds {
            do {
                var simulation = try Simulation(seed: seed)
                let report = try simulation.run()
                virtual += report.seconds
                events += report.events
                jobs += report.jobs
                results += report.results
                kills += report.kills
                if verbose {
                    print(seed, report.seconds, report.events, report.jobs, report.results, report.kills, report.digest)
                }
            } catch {
                print("seed \(seed): \(error)")
                print("again: make simulate SEED=\(seed)")
                throw ExitCode.failure
            }
            seeds += 1
            seed += 1
        }
        let real = max(1, time(nil) - start)
        print(
            "\(seeds) seeds, \(Int(virtual)) virtual seconds (\(Int(virtual) / real) a second), \(events) events, "
                + "\(jobs) jobs, \(results) results, \(kills) kills")
    }
}
