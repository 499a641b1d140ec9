import Glibc

/// How many lanes `lanes: auto` means: the processors that this process may use, or fewer if a container limits its
/// time.
package enum LaneCount {
    /// The number for this process on this machine. Each call reads it from the kernel.
    ///
    /// - Parameter root: Where the control group file system is mounted.
    /// - Returns: At least 1.
    package static func automatic(controlGroupsAt root: String = "/sys/fs/cgroup") -> Int {
        let membership = (try? TextFile.bytes(at: "/proc/self/cgroup")).map { String(decoding: $0, as: UTF8.self) }
        let quota = quotaFiles(membership: membership ?? "", root: root).compactMap { file in
            (try? TextFile.bytes(at: file)).flatMap { processors(quota: String(decoding: $0, as: UTF8.self)) }
        }.min()
        return count(cores: usableCores(), quota: quota)
    }

    /// The number for some cores and a quota in processors: the quota rounded up, at most the cores, at least 1.
    static func count(cores: Int, quota: Double?) -> Int {
        guard let quota else { return max(1, cores) }
        return max(1, min(cores, Int(quota.rounded(.up))))
    }

    /// The processors that the text of a `cpu.max` file grants; nil for no limit or text of another form.
    ///
    /// [cgroup v2, cpu.max](https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files)
    static func processors(quota text: String) -> Double? {
        let words = text.split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), quota > 0, period > 0
        else { return nil }
        return quota / period
    }

    /// The `cpu.max` files that limit a process: the file of its own group and of every group above it.
    static func quotaFiles(membership: String, root: String) -> [String] {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else {
            return ["\(root)/cpu.max"]
        }
        var directory = String(line.dropFirst(3))
        if directory == "/" { directory = "" }
        var files: [String] = []
        while true {
            files.append("\(root)\(directory)/cpu.max")
            guard let slash = directory.lastIndex(of: "/") else { return files }
            directory = String(directory[..<slash])
        }
    }

    /// How many processors the mask of a `/proc/<id>/status` text has; nil without a mask.
    ///
    /// [proc_pid_status(5)](https://man7.org/linux/man-pages/man5/proc_pid_status.5.html)
    static func cores(status text: String) -> Int? {
        let label = "Cpus_allowed:"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(label) }) else { return nil }
        let count = line.dropFirst(label.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }

    private static func usableCores() -> Int {
        let status = (try? TextFile.bytes(at: "/proc/self/status")).map { String(decoding: $0, as: UTF8.self) }
        return status.flatMap(cores(status:)) ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
