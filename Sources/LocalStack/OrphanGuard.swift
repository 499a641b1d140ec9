import Glibc
import Synchronization

/// Ends everything that this process started once this process is gone, even after SIGKILL, which leaves no time to
/// tidy up.
///
/// A small shell holds the other end of a socket. While this process lives, the shell only keeps a list. The kernel
/// guarantees an end of file when this process ends. Then the shell kills the process groups that are still on the list
/// and removes the directories.
final class OrphanGuard: Sendable {
    /// The one guard of this process, started at its first use.
    static let shared = OrphanGuard()

    /// The socket to the shell, or -1 where it could not be started.
    private let descriptor: Int32
    /// Keeps the lines of several threads apart.
    private let turn = Mutex(())

    /// The shell's program. It ignores the signals that a terminal sends to everybody.
    static let script = """
        trap '' INT TERM HUP
        nl='
        '
        groups=' '
        paths=$nl
        while read -r verb what; do
            case $verb in
                +group) groups="$groups$what " ;;
                -group) case $groups in *" $what "*) groups="${groups%%" $what "*} ${groups#*" $what "}" ;; esac ;;
                +path) paths="$paths$what$nl" ;;
                -path) case $paths in *"$nl$what$nl"*) paths="${paths%%"$nl$what$nl"*}$nl${paths#*"$nl$what$nl"}" ;; esac ;;
            esac
        done
        for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
        printf %s "$paths" | while read -r path; do
            if [ -n "$path" ]; then rm -rf -- "$path" || { sleep 1; rm -rf -- "$path"; }; fi
        done
        """

    private init() {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            descriptor = -1
            return
        }
        let started = try? ChildProcess.launch(
            "/bin/sh", ["-c", OrphanGuard.script],
            descriptors: (input: .descriptor(pair[1]), output: .discard, error: .discard),
            environment: ["PATH=/usr/bin:/bin"])
        close(pair[1])
        if started == nil {
            close(pair[0])
            descriptor = -1
        } else {
            descriptor = pair[0]
        }
    }

    /// Puts a process group on the list.
    ///
    /// - Parameter group: The id of the group, which is that of its leader.
    func watch(group: Int32) { tell("+group \(group)") }

    /// Takes a process group off the list. Its leader was waited for, so another process may get the id; or the group
    /// shall outlive this process.
    ///
    /// - Parameter group: The id of the group.
    func forget(group: Int32) { tell("-group \(group)") }

    /// Puts a directory on the list.
    ///
    /// - Parameter path: Its absolute path.
    func watch(directory path: String) { tell("+path \(path)") }

    /// Takes a directory off the list.
    ///
    /// - Parameter path: Its absolute path.
    func forget(directory path: String) { tell("-path \(path)") }

    /// Sends one line. If the guard is gone, only the clean-up is lost; this process goes on.
    private func tell(_ line: String) {
        guard descriptor >= 0 else { return }
        var bytes = Array("\(line)\n".utf8)
        turn.withLock { _ in
            while !bytes.isEmpty {
                let count = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                if count < 0 && errno != EINTR { return }
                bytes.removeFirst(max(count, 0))
            }
        }
    }
}
