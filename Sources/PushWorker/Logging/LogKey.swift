package import Logging

/// The keys of log metadata. Every log call uses these, so that lines can be searched by key.
///
/// Messages are constant sentences. Everything that varies is metadata, and it never contains a device token, a payload
/// or a password.
package enum LogKey: String, Sendable, CaseIterable {
    case action
    case author
    case broker
    case campaign
    case code
    case count
    case credential
    case detail
    case dueIn = "due_in"
    case duration = "duration_ms"
    case environment
    case error
    case file
    case followed
    case grace
    case host
    case instance
    case lane
    case listen
    case needsRestart = "needs_restart"
    case queue
    case rate
    case reason
    case role
    case route
    case routes
    case text
    case until
    case version
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
