/// The keys of the configuration file, and the environment variables that stand for them.
enum ConfigurationSchema {
    /// What every variable begins with.
    static let environmentPrefix = "MARTLET_"

    /// Variables with the prefix that are no settings: where a worker under test is to die, see ``FailPoint``.
    static let otherVariables: Set<String> = ["MARTLET_FAILPOINT"]

    /// The variable that names a file with the brokers' URIs.
    static let brokerURIFile = "MARTLET_BROKER_URI_FILE"

    /// All keys.
    static let root: [ConfigurationKey] = [
        ConfigurationKey("instance"),
        ConfigurationKey(
            "broker",
            .section([
                ConfigurationKey("uri", .values, secret: true), ConfigurationKey("management", secret: true),
                ConfigurationKey("password_file"), ConfigurationKey("allow_plaintext"), ConfigurationKey("heartbeat"),
                ConfigurationKey(
                    "tls",
                    .section([
                        ConfigurationKey("ca_file"), ConfigurationKey("cert_file"), ConfigurationKey("key_file"),
                    ])),
            ])),
        ConfigurationKey(
            "apns",
            .section([
                ConfigurationKey("production"), ConfigurationKey("development"), ConfigurationKey("trust_file"),
                ConfigurationKey("request_timeout"), ConfigurationKey("ping_interval"), ConfigurationKey("idle"),
                ConfigurationKey("connect_rate"), ConfigurationKey("connect_burst"),
                ConfigurationKey("proxy", secret: true),
                ConfigurationKey(
                    "broadcast", .section([ConfigurationKey("production"), ConfigurationKey("development")])),
                ConfigurationKey(
                    "channels", .section([ConfigurationKey("production"), ConfigurationKey("development")])),
            ])),
        ConfigurationKey(
            "credentials",
            .records([
                ConfigurationKey("name"), ConfigurationKey("kind"), ConfigurationKey("key_file"),
                ConfigurationKey("key_id"), ConfigurationKey("team_id"), ConfigurationKey("file"),
                ConfigurationKey("password_file"), ConfigurationKey("cert_file"),
            ])),
        ConfigurationKey(
            "routes",
            .records([
                ConfigurationKey("name"), ConfigurationKey("environment"), ConfigurationKey("topics", .values),
                ConfigurationKey("credential"), ConfigurationKey("connections"), ConfigurationKey("lanes"),
                ConfigurationKey("high_lane"), ConfigurationKey("rate"), ConfigurationKey("omit_topic"),
                ConfigurationKey("results_queue"),
            ])),
        ConfigurationKey("share"),
        ConfigurationKey("lanes"),
        ConfigurationKey("prefetch"),
        ConfigurationKey("memory", .section([ConfigurationKey("jobs")])),
        ConfigurationKey(
            "retry",
            .section([
                ConfigurationKey("tiers", .values), ConfigurationKey("max_attempts"), ConfigurationKey("max_age"),
            ])),
        ConfigurationKey(
            "results",
            .section([ConfigurationKey("batch"), ConfigurationKey("device_token"), ConfigurationKey("queues")])),
        ConfigurationKey("replies", .section([ConfigurationKey("allow")])),
        ConfigurationKey("journal"),
        ConfigurationKey("admin", .section([ConfigurationKey("listen"), ConfigurationKey("token_file")])),
        ConfigurationKey("metrics", .section([ConfigurationKey("detail")])),
        ConfigurationKey("log", .section([ConfigurationKey("level"), ConfigurationKey("format")])),
        ConfigurationKey("shutdown", .section([ConfigurationKey("grace")])),
    ]

    /// One environment variable and the key it stands for.
    struct Variable: Sendable {
        /// The variable's name.
        let name: String
        /// The keys from the root to the setting.
        let path: [String]
        /// The setting.
        let key: ConfigurationKey
        /// For a secret, the variable that names a file with the value.
        var fileName: String? { key.isSecret ? name + "_FILE" : nil }
    }

    /// The variable of each setting, in the order of the table.
    static let variables: [Variable] = variables(of: root, path: [])

    private static func variables(of keys: [ConfigurationKey], path: [String]) -> [Variable] {
        keys.flatMap { key -> [Variable] in
            let path = path + [key.name]
            if case .section(let children) = key.shape { return variables(of: children, path: path) }
            return [Variable(name: environmentPrefix + path.joined(separator: "_").uppercased(), path: path, key: key)]
        }
    }
}
