import FoundationEssentials
import Glibc

/// The file that the lines are appended to, one JSON object each.
enum FaultTable {
    /// Appends a line where `MARTLET_FAULT_TABLE` names a file.
    static func append(_ row: FaultRow) throws {
        guard let path = FaultSelection.variable("FAULT_TABLE") else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let line = Array(try encoder.encode(row)) + [UInt8(ascii: "\n")]
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0, write(descriptor, line, line.count) == line.count, close(descriptor) == 0 else {
            throw FaultFailure("the table \(path) cannot be written")
        }
    }
}
