import FoundationEssentials

/// Where programs keep their state.
enum StateHome {
    /// `XDG_STATE_HOME`, else `~/.local/state`, else `/tmp`.
    static var path: String {
        let environment = ProcessInfo.processInfo.environment
        return environment["XDG_STATE_HOME"] ?? environment["HOME"].map { "\($0)/.local/state" } ?? "/tmp"
    }
}
