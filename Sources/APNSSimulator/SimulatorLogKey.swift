import Logging

/// The keys of metadata in log lines of the simulator; every log call uses these.
enum SimulatorLogKey: String, Sendable {
    case connection
    case error
    case link
    case reason
}

extension Logger.Metadata {
    /// Metadata under the keys of ``SimulatorLogKey``.
    static func simulator(_ values: KeyValuePairs<SimulatorLogKey, Logger.MetadataValue>) -> Logger.Metadata {
        Logger.Metadata(values.map { ($0.key.rawValue, $0.value) }) { _, last in last }
    }
}
