import Glibc
import Synchronization

/// Ctrl-C as a question that loops ask, so that a command can finish what it began and print its summary.
enum Interrupt {
    private static let count = Atomic<Int>(0)

    /// Whether Ctrl-C was pressed, or the process was asked to end, since `watch()`.
    static var isRequested: Bool { count.load(ordering: .relaxed) > 0 }

    /// Starts to notice Ctrl-C and SIGTERM; a second one ends the process at once.
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
