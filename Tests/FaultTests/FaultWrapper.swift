import Glibc

/// Programs that a worker is started through.
enum FaultWrapper {
    /// A shell whose mounts nobody else sees.
    ///
    /// - Parameter script: What it does before the worker takes its place; the worker's own command is `"$@"`.
    static func ownMounts(_ script: String) -> [String] {
        let user = geteuid() == 0 ? [] : ["--map-root-user"]
        return ["/usr/bin/unshare", "--mount"] + user + ["/bin/sh", "-c", script, "sh"]
    }
}
