import Glibc

/// A program started by a test; killed by its id when the test lets go of it.
final class StartedProgram {
    private var identifier: pid_t = 0
    private var status: Int32?

    /// Starts a program with its output thrown away.
    init(_ path: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in [1, 2] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var list: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { list.forEach { free($0) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        let result = posix_spawn(&identifier, path, &actions, nil, &list, &environment)
        guard result == 0 else { throw LoopbackError(call: "posix_spawn \(path)", number: result) }
    }

    deinit {
        guard status == nil else { return }
        kill(identifier, SIGKILL)
        waitForExit()
    }

    /// Waits until the program ends; returns its exit status.
    @discardableResult
    func waitForExit() -> Int32 {
        var raw: Int32 = 0
        while waitpid(identifier, &raw, 0) < 0, errno == EINTR {}
        let code = raw & 0x7f == 0 ? raw >> 8 & 0xff : -(raw & 0x7f)
        status = code
        return code
    }
}
