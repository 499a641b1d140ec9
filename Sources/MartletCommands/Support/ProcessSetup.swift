import Glibc
import TLS

/// The first steps of a program that runs for months: signals, threads and limits of the system.
enum ProcessSetup {
    /// How many descriptors a worker or simulator needs at least: logs, loops, and a few connections.
    static let leastDescriptors: rlim_t = 64

    /// Prepares the process.
    ///
    /// - Threads may still use OpenSSL while the process exits.
    /// - SIGPIPE is ignored, so that a log without a reader stops nothing.
    /// - The limit of descriptors is raised as far as the system allows.
    ///
    /// - Throws: `configuration` where fewer than ``leastDescriptors`` are allowed.
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
