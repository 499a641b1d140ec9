import Glibc
import TLS

/// What a program that runs for months asks of the system before anything else.
enum ProcessSetup {
    /// How many descriptors a worker or simulator needs at least: logs, loops, and a few connections.
    static let leastDescriptors: rlim_t = 64

    /// Lets threads end in peace, ignores SIGPIPE, because a log that nobody reads any more must stop nothing, and
    /// raises the limit of descriptors as far as is allowed.
    ///
    /// - Throws: `CommandFailure` where too few descriptors are allowed to start at all.
    static func prepare() throws(CommandFailure) {
        TLSLibrary.surviveExit()
        signal(SIGPIPE, SIG_IGN)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            guard setrlimit(resource, &limit) == 0, getrlimit(resource, &limit) == 0 else { return }
        }
        guard limit.rlim_cur >= leastDescriptors else {
            throw CommandFailure(
                .configuration,
                "only \(limit.rlim_cur) open files are allowed, and at least \(leastDescriptors) are needed: "
                    + "raise the limit (ulimit -n, or LimitNOFILE= of systemd)")
        }
    }
}
