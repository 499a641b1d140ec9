import ArgumentParser

/// How data are printed.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// For people.
    case text
    /// For programs: one JSON object per line.
    case json
}
