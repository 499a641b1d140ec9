import Foundation

/// The body of a result, every field of it.
struct JobResult: Decodable, Equatable {
    var jobId: String
    var index: Int
    var outcome: String
    var action: String
    var status: Int?
    var reason: String?
    var detail: String?
    var deviceToken: String?
    var tokenInvalidSince: Int64?
    var reference: String?
    var apnsId: String?
    var topic: String?
    var environment: String?
    var route: String?
    var attempt: Int
    var redelivered: Bool
    var duplicate: String?
    var enqueuedAt: Int64?
    var finishedAt: Int64
    var worker: String

    static func parse(_ body: [UInt8]) throws -> JobResult {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(JobResult.self, from: Data(body))
    }

    /// Outcome, reason and index on one line, for comparing many at once.
    var summary: String { "\(index) \(outcome) \(reason ?? "-") \(attempt)" }
}
