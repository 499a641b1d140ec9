package import Logging

/// The keys of log metadata; every log call uses these, so that lines can be searched by key.
///
/// Messages are constant sentences. What varies goes here, and never a device token, a payload or a password.
package enum LogKey: String, Sendable, CaseIterable {
    case address
    case apnsID = "apns_id"
    case attempt
    case channel
    case code
    case connection
    case count
    case credential
    case delay = "delay_ms"
    case deliveryTag = "delivery_tag"
    case detail
    case duration = "duration_ms"
    case environment
    case error
    case exchange
    case file
    case grace = "grace_ms"
    case instance
    case jobID = "job_id"
    case lane
    case lanes
    case limit
    case outcome
    case port
    case prefetch
    case queue
    case reason
    case redelivered
    case retriable
    case role
    case route
    case routingKey = "routing_key"
    case signal
    case state
    case status
    case streams
    case tier
    case topic
    case uri
    case version
    case virtualHost = "virtual_host"
}

extension Logger.Metadata {
    /// Metadata under the keys of ``LogKey``.
    package static func with(_ values: KeyValuePairs<LogKey, Logger.MetadataValue>) -> Logger.Metadata {
        Logger.Metadata(values.map { ($0.key.rawValue, $0.value) }) { _, last in last }
    }
}

extension Logger {
    /// Sets metadata that goes with every line of this logger.
    package subscript(key: LogKey) -> Logger.MetadataValue? {
        get { self[metadataKey: key.rawValue] }
        set { self[metadataKey: key.rawValue] = newValue }
    }
}
