import Glibc
import Synchronization

/// Lets loops ask whether Ctrl-C was pressed, so that a command can finish its work in progress and print a summary.
enum Interrupt {
    private static let count = Atomic<Int>(0)

    /// Whether Ctrl-C was pressed, or the process was asked to end, since `watch()`.
    static var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

    /// Starts to notice Ctrl-C and SIGTERM. A second signal ends the process at once.
    ///
    /// Only for a command that looks at `isRequested` until it ends: from now on the first signal does not end it.
    static func watch() {
        count.store(0, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                // Only an atomic addition and a system call: both are allowed in a signal handler.
                if Interrupt.count.add(1, ordering: .relaxed).newValue > 1 { _exit(128 + number) }
            }
        }
    }
}
