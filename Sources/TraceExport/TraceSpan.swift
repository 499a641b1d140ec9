/// One step of a notification's way, in the terms of OpenTelemetry.
///
/// It never holds a device token or a payload: spans leave the machine.
/// [OpenTelemetry: spans](https://opentelemetry.io/docs/specs/otel/trace/api/#span)
package struct TraceSpan: Equatable, Sendable {
    /// What a step is to the systems around it. The numbers are those of OTLP's `SpanKind`.
    package enum Kind: Int, Sendable {
        /// A request to another system.
        case client = 3
        /// The handling of a message.
        case consumer = 5
    }

    /// The value of an attribute.
    package enum Value: Equatable, Sendable {
        /// A text.
        case text(String)
        /// A whole number.
        case number(Int)
    }

    /// One thing that is known of the step.
    package struct Attribute: Equatable, Sendable {
        /// The name, from OpenTelemetry's conventions where they have one.
        package let key: String
        /// What is known.
        package let value: Value

        /// An attribute with a text.
        package static func text(_ key: String, _ value: String) -> Attribute {
            Attribute(key: key, value: .text(value))
        }

        /// An attribute with a whole number.
        package static func number(_ key: String, _ value: Int) -> Attribute {
            Attribute(key: key, value: .number(value))
        }
    }

    /// The trace it belongs to: the upper and the lower half of the id, never both 0.
    package var trace: (high: UInt64, low: UInt64)
    /// Its own id, never 0.
    package var id: UInt64
    /// The id of the step that caused it.
    package var parent: UInt64
    /// The flags of the trace context: bit 0 says that it is recorded.
    package var flags: UInt8
    /// What other systems noted of the trace: the `tracestate` that came with it; nil without one.
    package var traceState: String?
    /// What it is to others.
    package var kind: Kind
    /// What was done, the same text for all steps of this sort.
    package var name: String
    /// When it began, in nanoseconds since 1970.
    package var start: Int64
    /// When it ended, in nanoseconds since 1970; never before `start`.
    package var end: Int64
    /// What else is known.
    package var attributes: [Attribute]
    /// Why it failed; nil if it did not.
    package var failure: String?

    /// A step from its parts.
    package init(
        trace: (high: UInt64, low: UInt64), id: UInt64, parent: UInt64, flags: UInt8 = 1,
        traceState: String? = nil, kind: Kind, name: String, start: Int64, end: Int64, attributes: [Attribute] = [],
        failure: String? = nil
    ) {
        self.trace = trace
        self.id = id
        self.parent = parent
        self.flags = flags
        self.traceState = traceState
        self.kind = kind
        self.name = name
        self.start = start
        self.end = end
        self.attributes = attributes
        self.failure = failure
    }

    /// Whether all parts are the same.
    package static func == (one: TraceSpan, other: TraceSpan) -> Bool {
        one.trace == other.trace && one.id == other.id && one.parent == other.parent
            && one.flags == other.flags && one.traceState == other.traceState && one.kind == other.kind
            && one.name == other.name
            && one.start == other.start && one.end == other.end && one.attributes == other.attributes
            && one.failure == other.failure
    }
}
