import Foundation
import Text

/// What a collector made of a request. Pure.
///
/// [OTLP/HTTP: responses](https://opentelemetry.io/docs/specs/otlp/#otlphttp-response)
package enum ExportAnswer: Equatable, Sendable {
    /// It took the spans, apart from some.
    case taken(refused: Int)
    /// It refuses them for good.
    case refused(String)
    /// It may take them later: it cannot be reached, or says so. It may say how long to wait.
    case later(String, after: Duration? = nil)

    /// The body of an answer, as far as it matters.
    private struct Body: Decodable {
        struct PartialSuccess: Decodable {
            /// 64-bit numbers are texts in this form of JSON, and collectors write numbers, too.
            let rejectedSpans: Count?
        }

        let partialSuccess: PartialSuccess?
    }

    private struct Count: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(container.decode(String.self)) ?? 0
        }
    }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body.
    ///   - retryAfter: The header `Retry-After`, a number of seconds or a date (RFC 9110, section 10.2.3); nil for none.
    ///   - now: The time, in seconds since 1970.
    ///   - count: How many spans were sent.
    init(status: Int, body: Data, retryAfter: String?, now: Int64, count: Int) {
        switch status {
        case 200...299:
            let rejected = (try? JSONDecoder().decode(Body.self, from: body))?.partialSuccess?.rejectedSpans?.value
            self = .taken(refused: min(max(0, rejected ?? 0), count))
        case 429, 502, 503, 504:
            self = .later("it answered \(status)", after: retryAfter.flatMap { Self.wait($0, now: now) })
        default: self = .refused("it answered \(status)")
        }
    }

    private static func wait(_ retryAfter: String, now: Int64) -> Duration? {
        let seconds = Int64(retryAfter) ?? HTTPDate.seconds(Array(retryAfter.utf8).span).map { $0 - now }
        return seconds.map { .seconds(max(0, $0)) }
    }
}
