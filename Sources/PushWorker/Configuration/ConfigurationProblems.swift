/// Why a value was not accepted, without its place.
struct Rejection: Error {
    /// What is wrong and what would be right.
    let message: String

    /// Makes a rejection.
    init(_ message: String) {
        self.message = message
    }
}

/// Collects what is wrong, so that one run reports everything. Used by one loader on one thread.
final class ConfigurationProblems {
    /// What was found so far.
    private(set) var errors: [ConfigurationError] = []

    /// Notes one problem.
    func add(_ origin: ConfigurationOrigin, _ message: String) {
        errors.append(ConfigurationError(origin: origin, message: message))
    }

    /// Notes problems found elsewhere.
    func add(_ more: [ConfigurationError]) {
        errors += more
    }
}
