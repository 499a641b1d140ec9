import EventLoop
import Foundation
import LocalStack
import Rig

// What no worker may say, whatever happens to it.
extension FaultRing {
    /// Looks through everything that every worker of the run ever logged, and through what those alive say of
    /// themselves, for keys, passwords, payloads and the device tokens of all jobs.
    func checkSecrecy() async throws {
        let tokens = audit.look { state in Set(state.ledger.jobs.map { $0.filter { $0 != "-" } }) }
        let secrets = try self.secrets()
        try await BlockingWork.run("secrecy") { [self] in
            var texts: [(place: String, text: String)] = workerNames.compactMap { name in
                // A log whose file system is gone cannot be read any more.
                FileManager.default.contents(atPath: local.logFile(of: name)).map {
                    ("the log of \(name)", String(decoding: $0, as: UTF8.self))
                }
            }
            for worker in workers {
                for path in ["/metrics", "/readyz", "/livez"] {
                    if let body = try? worker.get(path).body { texts.append(("\(path) of \(worker.name)", body)) }
                }
            }
            for (place, text) in texts {
                for secret in secrets where text.contains(secret) {
                    expect(false, "\(place) says \"\(secret)\"")
                }
                expect(!Self.names(text, tokens), "\(place) names a device token")
            }
        }
    }

    /// The passwords of all runs.
    private static let passwords = ["hush-4711", "other-4711", "fresh-4711"]

    /// Words of payloads, keys and provider tokens, and every password that a run uses.
    private func secrets() throws -> [String] {
        let key = try String(contentsOfFile: local.directory.file("AuthKey_MARTLET001.p8"), encoding: .utf8)
        return ["is on its way", "PRIVATE KEY", "eyJ", "guest:guest"] + Self.passwords
            + key.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
    }

    /// Whether a text holds a device token: the digits of a job's id, which its tokens are made of, in one run of
    /// hexadecimal digits.
    private static func names(_ text: String, _ tokens: Set<String>) -> Bool {
        let length = 32
        let runs = text.utf8.split { !Character(Unicode.Scalar($0)).isHexDigit }
        for digits in runs.map(Array.init) where digits.count > length {
            for start in 0...(digits.count - length) {
                let part = String(decoding: digits[start..<start + length], as: UTF8.self)
                if tokens.contains(part) { return true }
            }
        }
        return false
    }
}
