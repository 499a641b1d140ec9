package import PushModel

/// The `broker` section.
package struct BrokerConfiguration: Sendable {
    /// AMQP URIs to try in random order; at least one. Secret, because they carry passwords.
    package var uris: [SecretText]
    /// The file of ``uris``, which is read again for each connection; nil if the URIs do not come from a file.
    package var uriFile: String?
    /// The file whose first line is the password. It is read again for each connection, and wins over a password in
    /// ``uris``.
    package var passwordFile: String?
    /// Whether logins and messages may leave this machine unencrypted.
    package var allowsPlaintext: Bool
    /// The management API, as `http(s)://user:password@host:port`; commands use it, workers never.
    package var management: SecretText?
    /// The heartbeat asked of the broker, in whole seconds.
    package var heartbeat: Duration
    /// Files for `amqps`.
    package var tls: BrokerTLSConfiguration
}
