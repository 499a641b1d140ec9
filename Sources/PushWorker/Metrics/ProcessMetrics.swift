import Glibc
import WorkerSettings

/// The kernel's numbers about this process, under the names that every Prometheus client uses.
///
/// [Process metrics](https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics),
/// [proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html)
struct ProcessMetrics: Equatable {
    /// User and system time, in clock ticks.
    var cpuTicks = 0
    /// When the process started, in clock ticks since boot.
    var startTicks = 0
    /// The number of threads.
    var threads = 0
    /// The address space, in bytes.
    var virtualBytes = 0
    /// The memory in use, in pages.
    var residentPages = 0

    /// Reads the text of `/proc/<id>/stat`; nil if it has another form.
    init?(stat text: String) {
        // The program's name stands in parentheses. It may itself contain parentheses and spaces.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split { $0 == " " || $0 == "\n" }.map { Int($0) }
        guard fields.count > 21, let user = fields[11], let system = fields[12], let threads = fields[17],
            let start = fields[19], let virtual = fields[20], let resident = fields[21]
        else { return nil }
        cpuTicks = user + system
        startTicks = start
        self.threads = threads
        virtualBytes = virtual
        residentPages = resident
    }

    /// Writes the metrics of this process. Numbers that cannot be read are left out.
    static func write(to text: inout MetricsText) {
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        if let process = read("/proc/self/stat").flatMap(ProcessMetrics.init(stat:)) {
            gauge("process_resident_memory_bytes", "Resident memory.", process.residentPages * pageSize, &text)
            gauge("process_virtual_memory_bytes", "Virtual memory.", process.virtualBytes, &text)
            gauge("process_threads", "Operating-system threads.", process.threads, &text)
            text.family("process_cpu_seconds_total", .counter, "User and system processor time.")
            text.sample("process_cpu_seconds_total", [], Double(process.cpuTicks) / ticks)
            if let boot = bootTime(read("/proc/stat") ?? "") {
                text.family("process_start_time_seconds", .gauge, "Start of the process since 1970.")
                text.sample("process_start_time_seconds", [], Double(boot) + Double(process.startTicks) / ticks)
            }
        }
        if let open = openDescriptors() { gauge("process_open_fds", "Open file descriptors.", open, &text) }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            gauge("process_max_fds", "The most file descriptors.", Int(clamping: limit.rlim_cur), &text)
        }
    }

    /// The boot time in seconds since 1970 from the text of `/proc/stat`.
    static func bootTime(_ text: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Int($0.dropFirst(6)) }
    }

    private static var pageSize: Int { max(1, sysconf(Int32(_SC_PAGESIZE))) }

    private static func gauge(_ name: String, _ help: String, _ value: Int, _ text: inout MetricsText) {
        text.family(name, .gauge, help)
        text.sample(name, [], value)
    }

    private static func read(_ path: String) -> String? {
        (try? TextFile.bytes(at: path)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func openDescriptors() -> Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without ".", ".." and the descriptor that this listing itself needs.
        return max(0, count - 3)
    }
}
