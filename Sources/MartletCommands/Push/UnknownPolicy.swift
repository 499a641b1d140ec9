import ArgumentParser

/// What happens to a notification that was sent and never answered.
enum UnknownPolicy: String, CaseIterable, ExpressibleByArgument {
    /// It is sent again, and may arrive twice.
    case retry
    /// It is reported as `unknown`.
    case report
}
