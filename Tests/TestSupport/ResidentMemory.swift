import Foundation

/// The memory of this process.
package enum ResidentMemory {
    /// Bytes that are resident now.
    ///
    /// - Throws: When the system does not say.
    package static func bytes() throws -> Int {
        let statistics = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return statistics.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 } ?? 0
    }
}
