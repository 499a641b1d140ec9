import PushModel
import Rig
import TLS

/// What makes two dead letters the same one, which came twice (`DeadLetters.md`, "Which queue").
///
/// It is a digest of the headers that must agree, and of the job: its key, its body, and the `apns-` headers in which a
/// raw job has its device token. So two jobs that a producer gave one id by mistake are two letters.
struct LetterIdentity: Hashable {
    private let digest: SIMD4<UInt64>

    /// The identity of a letter; nil for a job without an id.
    init?(_ letter: DeadLetter) {
        let message = letter.message
        guard !message.messageID.isEmpty else { return nil }
        let headers = [
            message.header(HeaderName.replay), letter.workersHeader(HeaderName.attempt), letter.reason,
            letter.workersHeader(HeaderName.action), message.header(HeaderName.indexes),
        ]
        let raw = message.headers.filter { $0.name.hasPrefix("apns-") }.map { "\($0.name) \($0.value)" }.sorted()
        let texts =
            [message.messageID, letter.outcome, letter.jobRoutingKey] + headers.map { $0 ?? "" } + raw
        // No text holds a zero byte, so the end of each is certain.
        let bytes = texts.flatMap { Array($0.utf8) + [0] } + message.body
        guard let digest = try? SHA256.digest(bytes) else { return nil }
        self.digest = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }
}
