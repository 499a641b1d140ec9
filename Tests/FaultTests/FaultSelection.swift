import Glibc

/// Which faults are tried, and with which luck; from the environment.
enum FaultSelection {
    /// The variables `MARTLET_FAULTS` (`all`, or numbers separated by commas; without it the quick ones) and
    /// `MARTLET_SEED`, and where the table's lines and the logs of failed runs go.
    static func variable(_ name: String) -> String? {
        getenv("MARTLET_\(name)").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The faults to try.
    static let faults = faults(variable("FAULTS"))

    /// What chance is drawn from.
    static let seed = variable("SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)

    /// Reads a selection.
    /// - Parameter text: `all`, numbers separated by commas, or nil for the quick ones.
    static func faults(_ text: String?) -> [Fault] {
        guard let text else { return FaultCatalogue.all.filter(\.isQuick) }
        guard text != "all" else { return FaultCatalogue.all }
        let numbers = Set(text.split(separator: ",").map { Int($0) ?? 0 })
        return FaultCatalogue.all.filter { !numbers.isDisjoint(with: $0.numbers) }
    }
}
