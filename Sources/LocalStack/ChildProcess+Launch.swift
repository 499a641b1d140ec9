import Glibc

/// `POSIX_SPAWN_SETSID` of spawn.h, which Glibc's module hides.
private let newSession: Int16 = 0x80

extension ChildProcess {
    /// Starts a program in a session of its own, with default signal handling. Descriptors 3 to 255 are closed in it.
    ///
    /// - Parameters:
    ///   - executable: An absolute path, or a name to look for in `PATH`.
    ///   - arguments: Its arguments, without its own name.
    ///   - descriptors: Where its three streams come from and go to.
    ///   - environment: The whole environment as `NAME=value`.
    /// - Returns: The id of the process; the caller waits for it.
    /// - Throws: `LocalStackError` when the program is missing or cannot be started.
    static func launch(
        _ executable: String, _ arguments: [String], descriptors: (input: Stream, output: Stream, error: Stream),
        environment: [String]
    ) throws(LocalStackError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        redirect(&actions, 0, descriptors.input, flags: O_RDONLY)
        redirect(&actions, 1, descriptors.output, flags: O_WRONLY | O_CREAT | O_APPEND)
        redirect(&actions, 2, descriptors.error, flags: O_WRONLY | O_CREAT | O_APPEND)
        // The program must not get descriptors of other parts of this process. Closing a closed descriptor is not an
        // error.
        for descriptor in Int32(3)..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, newSession | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))

        let argumentList = ([executable] + arguments).map { strdup($0) } + [nil]
        let environmentList = environment.map { strdup($0) } + [nil]
        defer { (argumentList + environmentList).forEach { free($0) } }
        var processID: pid_t = 0
        let result = posix_spawnp(&processID, executable, &actions, &attributes, argumentList, environmentList)
        guard result == 0 else {
            let words = String(cString: strerror(result))
            throw LocalStackError(
                result == ENOENT ? .programMissing : .system, "cannot start \(executable): \(words)")
        }
        return processID
    }

    /// Adds what makes `target` come from or go to `stream` in the new process.
    private static func redirect(
        _ actions: inout posix_spawn_file_actions_t, _ target: Int32, _ stream: Stream, flags: Int32
    ) {
        switch stream {
        case .discard: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
        case .inherit: break
        case .file(let path): posix_spawn_file_actions_addopen(&actions, target, path, flags, 0o600)
        case .descriptor(let source): posix_spawn_file_actions_adddup2(&actions, source, target)
        }
    }

    /// What a program that ran to its end left behind.
    package struct Outcome: Sendable {
        /// How it ended.
        package var ending: Ending
        /// Everything it wrote to standard output.
        package var output: [UInt8]
        /// Everything it wrote to standard error.
        package var error: [UInt8]

        /// Standard output as text.
        package var text: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text.
        package var errorText: String { String(decoding: error, as: UTF8.self) }
        /// The exit status; 128 plus the number for a signal, as shells count.
        package var status: Int32 {
            switch ending {
            case .exited(let status): status
            case .signalled(let number): 128 + number
            }
        }
    }

    /// Runs a program to its end and collects what it writes.
    ///
    /// - Parameters:
    ///   - executable: An absolute path, or a name to look for in `PATH`.
    ///   - arguments: Its arguments, without its own name.
    ///   - environment: The whole environment, or `nil` for this process's own.
    ///   - input: Bytes for its standard input, as many as needed, because they go through a file.
    ///   - timeout: How long it may take. After this time it is killed.
    /// - Returns: Its output and how it ended.
    /// - Throws: `LocalStackError` when it cannot be started or takes too long.
    package static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: [UInt8] = [],
        timeout: Duration = .seconds(60)
    ) throws(LocalStackError) -> Outcome {
        // Files instead of pipes: no reader thread, no limit on size, nothing blocks when the program writes much.
        let streams = try [scratchFile(input), scratchFile([]), scratchFile([])]
        defer { streams.forEach { close($0) } }
        let process = try start(
            executable, arguments, environment: environment, input: .descriptor(streams[0]),
            output: .descriptor(streams[1]), error: .descriptor(streams[2]))
        guard let ending = process.wait(timeout: timeout) else {
            process.terminate(grace: .zero)
            throw LocalStackError(.timedOut, "\(executable) did not end within \(timeout)")
        }
        return Outcome(ending: ending, output: contents(of: streams[1]), error: contents(of: streams[2]))
    }

    /// A file without a name that has the given content, positioned at its start.
    private static func scratchFile(_ bytes: [UInt8]) throws(LocalStackError) -> Int32 {
        var template = Array("/tmp/martlet-stream-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .system("mkstemp(/tmp/martlet-stream-…)", errno: errno) }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done) }
            if count < 0 && errno != EINTR {
                let number = errno
                close(descriptor)
                throw .system("write(temporary file)", errno: number)
            }
            done += max(count, 0)
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    /// Everything in a file, from its start.
    private static func contents(of descriptor: Int32) -> [UInt8] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = pread(descriptor, buffer.baseAddress?.advanced(by: count), size - count, off_t(count))
                if got < 0 && errno == EINTR { continue }
                if got <= 0 { break }
                count += got
            }
        }
    }
}
