/// Where spans of notifications go.
package struct TracingConfiguration: Sendable, Equatable {
    /// The collector's address without a final slash, to which `/v1/traces` is added; nil for no spans.
    package var endpoint: String?
    /// The name under which the collector shows the workers.
    package var serviceName: String
}
