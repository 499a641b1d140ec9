/// The process that spans come from: a resource, in the terms of OpenTelemetry.
package struct SpanSource: Sendable {
    /// The name under which collectors show all workers (`service.name`).
    let service: String
    /// The program's version.
    let version: String
    /// The worker's name.
    let instance: String

    /// A source from its parts.
    package init(service: String, version: String, instance: String) {
        (self.service, self.version, self.instance) = (service, version, instance)
    }
}
