import EventLoop

/// One message to the service manager, as sd_notify(3) sends it: one assignment per line.
struct ServiceManagerMessage: Equatable {
    /// A change of the service's state.
    enum Change: Equatable {
        /// The service has started, or has read its configuration again.
        case ready
        /// It reads its configuration again since this moment.
        case reloading(MonotonicTime)
        /// It ends.
        case stopping
    }

    /// The most characters of a status. It may contain the words of a peer.
    static let longestStatus = 200

    /// The change; nil without one.
    var change: Change?
    /// The state of the service, for people; nil if it has not changed.
    var status: String?
    /// Whether it tells the watchdog that the service lives.
    var feedsWatchdog = false

    /// The datagram's text. Control characters in a status become spaces, so that no line of a peer can pass for an
    /// assignment.
    var text: String {
        var lines: [String] = []
        switch change {
        case .ready: lines.append("READY=1")
        case .reloading(let moment):
            lines += ["RELOADING=1", "MONOTONIC_USEC=\(moment.nanoseconds / 1_000)"]
        case .stopping: lines.append("STOPPING=1")
        case nil: break
        }
        if let status {
            let line = status.prefix(Self.longestStatus).map { character in
                character.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f } ? " " : character
            }
            lines.append("STATUS=\(String(line))")
        }
        if feedsWatchdog { lines.append("WATCHDOG=1") }
        return lines.joined(separator: "\n")
    }
}
