/// Where one broker is, and what else commands need to reach it. A person does not have to type this again and again.
///
/// A context stands for environment variables that are not set.
struct Context: Codable, Equatable {
    /// The broker's URI, or several with commas.
    var broker: String?
    /// Certificates that may vouch for the broker.
    var caFile: String?
    /// The client certificate.
    var certificateFile: String?
    /// The client certificate's private key.
    var keyFile: String?
    /// The file whose first line is the password.
    var passwordFile: String?
    /// Whether the way to the broker may be unencrypted.
    var allowsPlaintext: Bool?
    /// The address of the management API.
    var management: String?
    /// The worker's configuration file, for commands that take `--config`.
    var config: String?

    /// The names in the file.
    enum CodingKeys: String, CodingKey {
        case broker, management, config
        case caFile = "ca_file"
        case certificateFile = "cert_file"
        case keyFile = "key_file"
        case passwordFile = "password_file"
        case allowsPlaintext = "allow_plaintext"
    }

    /// The variables about the broker that the context stands for.
    var variables: [String: String] {
        var variables: [String: String] = [:]
        variables["MARTLET_BROKER_URI"] = broker
        variables["MARTLET_BROKER_TLS_CA_FILE"] = caFile
        variables["MARTLET_BROKER_TLS_CERT_FILE"] = certificateFile
        variables["MARTLET_BROKER_TLS_KEY_FILE"] = keyFile
        variables["MARTLET_BROKER_PASSWORD_FILE"] = passwordFile
        variables["MARTLET_BROKER_ALLOW_PLAINTEXT"] = allowsPlaintext == true ? "true" : nil
        variables["MARTLET_BROKER_MANAGEMENT"] = management
        return variables
    }
}
