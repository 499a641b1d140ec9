import Foundation
import Text

/// The body of a request that exports spans: OTLP in its JSON form.
///
/// Ids are hexadecimal, 64-bit numbers are texts, enumerations are numbers, and names are in camel case.
/// [OTLP: JSON Protobuf encoding](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
struct OTLPRequest: Encodable {
    private struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    private struct Resource: Encodable {
        let attributes: [Attribute]
    }

    private struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [Span]
    }

    private struct Scope: Encodable {
        let name: String
        let version: String
    }

    private struct Attribute: Encodable {
        let key: String
        let value: Value

        init(_ attribute: TraceSpan.Attribute) {
            key = attribute.key
            switch attribute.value {
            case .text(let text): value = Value(stringValue: text, intValue: nil)
            case .number(let number): value = Value(stringValue: nil, intValue: "\(number)")
            }
        }
    }

    private struct Value: Encodable {
        let stringValue: String?
        let intValue: String?
    }

    private struct Span: Encodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String
        let traceState: String?
        /// Bits 0 to 7: the flags of the trace context. Bit 8: it is known where the parent is. Bit 9: the parent is in
        /// another process.
        let flags: UInt32
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status

        init(_ span: TraceSpan) {
            traceId = HexText.text(span.trace.high) + HexText.text(span.trace.low)
            spanId = HexText.text(span.id)
            parentSpanId = HexText.text(span.parent)
            traceState = span.traceState
            flags = UInt32(span.flags) | (span.kind == .consumer ? 0x300 : 0x100)
            name = span.name
            kind = span.kind.rawValue
            startTimeUnixNano = "\(span.start)"
            endTimeUnixNano = "\(span.end)"
            attributes = span.attributes.map(Attribute.init)
            status = Status(code: span.failure == nil ? 0 : 2, message: span.failure)
        }
    }

    private struct Status: Encodable {
        /// 0 says nothing, 2 is an error.
        let code: Int
        let message: String?
    }

    private let resourceSpans: [ResourceSpans]

    /// A request.
    ///
    /// - Parameters:
    ///   - spans: The spans.
    ///   - source: The process that they come from.
    init(_ spans: [TraceSpan], from source: SpanSource) {
        let attributes = [
            TraceSpan.Attribute.text("service.name", source.service),
            .text("service.version", source.version),
            .text("service.instance.id", source.instance),
        ]
        resourceSpans = [
            ResourceSpans(
                resource: Resource(attributes: attributes.map(Attribute.init)),
                scopeSpans: [
                    ScopeSpans(
                        scope: Scope(name: "martlet", version: source.version), spans: spans.map(Span.init))
                ])
        ]
    }

    /// The request as JSON.
    var json: Data {
        // `JSONEncoder` fails only for NaN and infinity, and all numbers here are whole.
        (try? JSONEncoder().encode(self)) ?? Data()
    }
}
