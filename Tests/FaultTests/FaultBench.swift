import Foundation
import LocalStack
import Testing

/// Runs one fault from the start of its broker to its line in the table.
enum FaultBench {
    /// Runs a fault, writes its line, and expects no problem.
    static func run(_ fault: Fault) async throws {
        var row = FaultRow(number: fault.label, fault: fault.name)
        let began = ContinuousClock.now
        do {
            let ring = try await FaultRing.start(fault.setup)
            do {
                try await ring.begin()
                try await fault.run(ring)
                try await ring.conclude()
            } catch {
                ring.expect(false, "the run broke off: \(error)")
            }
            ring.fill(&row)
            if !row.problems.isEmpty || FaultSelection.variable("FAULT_KEEP") != nil {
                keepLogs(of: ring, as: fault.label)
            }
            await ring.stop()
        } catch {
            row.problems.append("the run could not start: \(error)")
        }
        row.seconds = seconds(began.duration(to: .now))
        try FaultTable.append(row)
        print(
            "fault \(row.number) \(row.fault): \(row.jobs) jobs, \(row.lost) lost, \(row.twice) pushed twice,",
            "\(row.held) held, ready after \(row.recovery.map { "\($0) s" } ?? "-"), \(row.memory) MiB,",
            "\(row.seconds) s \(row.figures.joined(separator: ", "))")
        #expect(
            row.problems.isEmpty,
            "\(fault.testDescription), seed \(row.seed), \(row.held) held, \(row.recoveries) recoveries")
    }

    /// A duration in seconds, to a hundredth.
    static func seconds(_ duration: Duration) -> Double {
        let (whole, fraction) = duration.components
        return (Double(whole) * 100 + Double(fraction) / 1e16).rounded() / 100
    }

    /// How long something may take here that takes no longer than a limit elsewhere.
    static func patience(_ limit: Duration) -> Duration { limit * FaultSelection.slowness }

    /// Copies all logs of a run where `MARTLET_FAULT_LOGS` names a directory.
    private static func keepLogs(of ring: FaultRing, as label: String) {
        guard let directory = FaultSelection.variable("FAULT_LOGS") else { return }
        let target = "\(directory)/\(label)"
        try? FileManager.default.removeItem(atPath: target)
        try? FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for path in ring.logs {
            try? FileManager.default.copyItem(
                atPath: path, toPath: "\(target)/\(URL(fileURLWithPath: path).lastPathComponent)")
        }
    }
}
