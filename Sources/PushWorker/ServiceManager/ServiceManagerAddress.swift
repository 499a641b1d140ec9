/// The service manager that started this process, as the environment names it (sd_notify(3), sd_watchdog_enabled(3)).
struct ServiceManagerAddress: Equatable {
    /// The notification socket: an absolute path, or `@` and a name.
    var socket: String
    /// How long the watchdog waits for a sign of life; nil where it does not watch this process.
    var watchdog: Duration?

    /// Reads the environment.
    ///
    /// - Parameters:
    ///   - environment: The process's variables.
    ///   - processID: The number of this process. A watchdog for another process does not count.
    /// - Returns: Nil without a service manager that wants to be told.
    init?(_ environment: [String: String], processID: Int32) {
        guard let socket = environment["NOTIFY_SOCKET"], !socket.isEmpty else { return nil }
        self.socket = socket
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        if isOurs, let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0 {
            watchdog = .microseconds(microseconds)
        }
    }
}
