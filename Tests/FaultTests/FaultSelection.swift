import Glibc
import TestSupport

/// Which faults are tried, and with which luck; from the environment.
enum FaultSelection {
    /// The variables `MARTLET_FAULTS` (`all`, or numbers, `quick` and `random` separated by commas; without it the
    /// quick ones), `MARTLET_SEED` and `MARTLET_FAULT_SECONDS`, and where the table's lines and the logs of failed runs
    /// go.
    static func variable(_ name: String) -> String? {
        getenv("MARTLET_\(name)").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The faults to try.
    static let faults = faults(variable("FAULTS"))

    /// What chance is drawn from.
    static let seed = variable("SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)

    /// How long runs of a chosen length take; nil for their own.
    static let duration = variable("FAULT_SECONDS").flatMap { Int($0) }.map { Duration.seconds($0) }

    /// How many MiB a worker may have: a debug build's, unless a sanitizer needs more.
    static let memoryCeiling = variable("FAULT_MEMORY").flatMap { Int($0) } ?? 128

    /// How much longer things may take; 1, unless a sanitizer slows everything down.
    static let slowness = Slowness.factor

    /// How many workers are many.
    static let crowd = variable("FAULT_CROWD").flatMap { Int($0) } ?? 500

    /// Whether packets may be dropped and file systems mounted: everything here has a network and mounts of its own.
    static let isIsolated = variable("FAULT_ISOLATED") != nil

    /// Reads a selection.
    ///
    /// - Parameter text: `all`, or numbers, `quick` and `random`, which is what chance chooses, separated by commas;
    ///   nil for the quick ones.
    static func faults(_ text: String?) -> [Fault] {
        guard let text else { return FaultCatalogue.all.filter(\.isQuick) }
        guard text != "all" else { return FaultCatalogue.all + [FaultCatalogue.random] }
        let names = text.split(separator: ",")
        let numbers = Set(names.compactMap { Int($0) })
        let isQuick = names.contains("quick")
        let named = FaultCatalogue.all.filter { isQuick && $0.isQuick || !numbers.isDisjoint(with: $0.numbers) }
        return names.contains("random") ? named + [FaultCatalogue.random] : named
    }
}
