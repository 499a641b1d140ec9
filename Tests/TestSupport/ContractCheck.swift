import Foundation
package import LocalStack
import Synchronization

/// Messages to be held against the schemas of `config/contract` by `Tests/Contract/check.py`, which uses a validator that is
/// not ours. What a schema lacks is a problem, too.
package final class ContractCheck: Sendable {
    /// The schemas, by their names there.
    package enum Schema: String, Sendable {
        case job
        case jobLine = "job-line"
        case rawJobHeaders = "raw-job-headers"
        case result
        case resultHeaders = "result-headers"
        case deadLetterHeaders = "dead-letter-headers"
    }

    private let lines = Mutex<[UInt8]>([])

    /// Nothing is noted yet.
    package init() {}

    /// Notes a message.
    /// - Parameters:
    ///   - schema: What it has to obey.
    ///   - json: Its text.
    ///   - about: Names it in problems.
    package func note(_ schema: Schema, json: [UInt8], about: String) {
        let name = about.map { $0 == "\"" || $0 == "\\" || $0.isNewline ? "'" : $0 }
        let head = "{\"schema\":\"\(schema.rawValue)\",\"about\":\"\(String(name))\",\"instance\":"
        // A line break within JSON is white space.
        let body = json.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        lines.withLock { $0 += Array(head.utf8) + body + Array("}\n".utf8) }
    }

    /// Judges what was noted since the last time, and forgets it.
    /// - Returns: What is wrong, a line each; empty where nothing is.
    /// - Throws: `LocalStackError` when Python cannot be started or takes too long.
    package func problems() throws(LocalStackError) -> [String] {
        let input = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        guard !input.isEmpty else { return [] }
        let outcome = try PythonEnvironment.run(Self.script, input: input, timeout: .seconds(60))
        guard outcome.status != 0 else { return [] }
        let problems = outcome.text.split(separator: "\n").map(String.init)
        return problems.isEmpty ? ["check.py failed: \(outcome.errorText)"] : problems
    }

    private static let script = PythonEnvironment.repository + "/Tests/Contract/check.py"
}
