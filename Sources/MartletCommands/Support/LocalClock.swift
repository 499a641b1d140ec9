import Glibc

/// A time of day on the clocks of the machine's time zone, to the second.
struct LocalClock: Equatable {
    /// From 0 to 23.
    let hour: Int
    /// From 0 to 59.
    let minute: Int
    /// From 0 to 59.
    let second: Int

    /// Reads `18:00` or `18:00:30`; nil for another text.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
        guard (2...3).contains(parts.count), numbers.count == parts.count, parts[0].utf8.count <= 2,
            parts.dropFirst().allSatisfy({ $0.utf8.count == 2 }), numbers[0] < 24, numbers[1] < 60,
            numbers.dropFirst(2).allSatisfy({ $0 < 60 })
        else { return nil }
        (hour, minute, second) = (numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    /// The next moment at which clocks show this time, today or tomorrow. A time that clocks skip in spring becomes the
    /// time an hour later.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: Milliseconds since 1970.
    func next(after now: Int64) -> Int64 {
        let today = Self.local(now)
        for days in 0...2 {
            var time = today
            (time.tm_hour, time.tm_min, time.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
            time.tm_mday += Int32(days)
            // -1 lets the library decide whether summer time is in force.
            time.tm_isdst = -1
            let found = Int64(mktime(&time)) * 1_000
            if found > now { return found }
        }
        return now
    }

    /// A moment as clocks here show it, with the offset, such as `2030-01-01T18:00:00+01:00`.
    ///
    /// - Parameter milliseconds: Milliseconds since 1970. The fraction of a second is cut off.
    static func write(_ milliseconds: Int64) -> String {
        var time = local(milliseconds)
        var buffer = [CChar](repeating: 0, count: 40)
        let length = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S%z", &time)
        var text = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // C writes +0100, and RFC 3339 wants a colon.
        text.insert(":", at: text.index(text.endIndex, offsetBy: -2))
        return text
    }

    /// A sentence where the variable TZ names a time zone that is not known here: the C library then counts in UTC, and
    /// says nothing (tzset(3)).
    ///
    /// - Parameters:
    ///   - environment: The process's variables.
    ///   - isFile: Whether there is a file at a path.
    static func trouble(withZoneOf environment: [String: String], isFile: (String) -> Bool) -> String? {
        let written = environment["TZ"] ?? ""
        let name = String(written.first == ":" ? written.dropFirst() : written[...])
        guard !name.isEmpty, !["UTC", "GMT", "Etc/UTC", "Etc/GMT"].contains(name) else { return nil }
        let directory = environment["TZDIR"] ?? "/usr/share/zoneinfo"
        // A rule such as CET-1CEST or <+03>-3 needs no file.
        let isRule = name.first == "<" || !name.contains("/") && name.contains { $0.isNumber }
        guard !isRule, !isFile(name.first == "/" ? name : "\(directory)/\(name)") else { return nil }
        return
            "TZ names the time zone \(name.printable), which this system does not know (is tzdata installed?): times "
            + "of day count as UTC"
    }

    private static func local(_ milliseconds: Int64) -> tm {
        var seconds = time_t((Double(milliseconds) / 1_000).rounded(.down))
        var time = tm()
        localtime_r(&seconds, &time)
        return time
    }
}
