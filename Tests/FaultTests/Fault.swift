import Testing

/// Something that goes wrong, how it is brought about, and what a worker makes of it.
struct Fault: Sendable, CustomTestStringConvertible {
    /// Its numbers in the list of faults; one run may prove several.
    var numbers: [Int]
    /// What goes wrong, in a few words.
    var name: String
    /// What a worker makes of it.
    var expectation: String
    /// Whether every change is tried on it.
    var isQuick = false
    /// Whether it may take more than five minutes.
    var isLong = false
    /// What it happens to.
    var setup = FaultSetup()
    /// Brings it about and repairs it, once half of the setup's jobs are done; the bench checks everything afterwards.
    var run: @Sendable (FaultRing) async throws -> Void

    /// A fault of the catalogue.
    ///
    /// - Parameters:
    ///   - numbers: Its numbers in the list of faults.
    ///   - name: What goes wrong, in a few words.
    ///   - expects: What a worker makes of it.
    ///   - isQuick: Whether every change is tried on it.
    ///   - isLong: Whether it may take more than five minutes.
    ///   - setup: Changes what it happens to.
    ///   - run: Brings it about and repairs it.
    init(
        _ numbers: Int..., name: String, expects: String, isQuick: Bool = false, isLong: Bool = false,
        setup: (inout FaultSetup) -> Void = { _ in }, run: @escaping @Sendable (FaultRing) async throws -> Void
    ) {
        self.numbers = numbers
        self.name = name
        expectation = expects
        self.isQuick = isQuick
        self.isLong = isLong
        setup(&self.setup)
        self.run = run
    }

    /// Its numbers as the table shows them.
    var label: String { numbers.isEmpty ? "random" : numbers.map(String.init).joined(separator: ",") }
    var testDescription: String { "\(label) \(name)" }
}
