import PushModel
import Text

/// The keys of `broker`.
struct BrokerKeys: Sendable {
    let uri = SettingKey(
        "broker.uri", .list(.secret("`amqp://`, `amqps://`"), of: "address"),
        default: [Setting(SecretText("amqp://guest:guest@localhost:5672/"))],
        "where the broker is; several are tried in random order")
    let passwordFile = SettingKey(
        "broker.password_file", .path(),
        "its first line is the password; the URI then needs none: `amqps://user@host`")
    let allowPlaintext = SettingKey(
        "broker.allow_plaintext", .boolean, default: false,
        "whether `amqp://` and `http://` may leave this machine, readable to everybody on the way")
    let management = SettingKey(
        "broker.management", .secret("`http://`, `https://`"), without: "the broker's host and login, port 15672",
        "the management API, for `martlet topology`, `check`, `status` and `dashboard`; the broker's user needs no "
            + "password in it")
    let heartbeat = SettingKey(
        "broker.heartbeat", .heartbeat, default: .seconds(15),
        "a broker silent for two of them is given up; `?heartbeat=` in the URI wins")
    let caFile = SettingKey(
        "broker.tls.ca_file", .path("PEM"), without: "the system's certificates",
        "the authorities that may sign the broker's certificate")
    let certFile = SettingKey("broker.tls.cert_file", .path("PEM"), "client certificate")
    let keyFile = SettingKey("broker.tls.key_file", .path("PEM"), "its key; both or none")
}

extension SettingKind<Duration> {
    /// A heartbeat, which the protocol counts in seconds.
    fileprivate static var heartbeat: SettingKind {
        duration(.seconds(1)...(.seconds(600))).only("whole seconds") {
            (value: Duration, text: String) throws(Rejection) in
            guard value.wholeMilliseconds % 1000 == 0 else {
                throw Rejection("\(text) is not a whole number of seconds")
            }
        }
    }
}
