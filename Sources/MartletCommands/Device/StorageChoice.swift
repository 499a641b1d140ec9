import ArgumentParser

/// What waits for a device that cannot take it.
enum StorageChoice: String, CaseIterable, ExpressibleByArgument {
    /// The newest notification of each app.
    case latest
    /// All of them.
    case all
}
