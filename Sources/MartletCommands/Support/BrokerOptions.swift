import ArgumentParser

/// The options that say where the broker is. Every command that talks to a broker has the same ones.
struct BrokerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            AMQP URI of the broker, or several with commas. A password here is visible to other users of this machine: better set \
            MARTLET_BROKER_URI, or MARTLET_BROKER_URI_FILE to a file that holds it. Only with one of these do the other \
            MARTLET_BROKER_ variables count: a login meant for one broker goes to no other.
            (default: amqp://guest:guest@localhost:5672/)
            """, valueName: "uri"))
    var broker: String?

    @Option(
        name: .customLong("broker-ca-file"),
        help: "Certificates that may vouch for the broker, for amqps. (default: the system's)")
    var caFile: String?
    @Option(name: .customLong("broker-cert-file"), help: "Client certificate for amqps.") var certificateFile: String?
    @Option(name: .customLong("broker-key-file"), help: "The client certificate's private key.") var keyFile: String?
    @Option(
        name: .customLong("broker-password-file"),
        help: "File whose first line is the password; the URI then needs none, as in amqps://user@host.")
    var passwordFile: String?
    @Flag(
        name: .customLong("broker-allow-plaintext"),
        help: "Allow amqp:// to another machine: everybody on the way can read password and messages.")
    var allowsPlaintext = false

    /// The given options as settings for a connection.
    var target: BrokerSettings {
        BrokerSettings(
            uri: broker, caFile: caFile, certificateFile: certificateFile, keyFile: keyFile, passwordFile: passwordFile,
            allowsPlaintext: allowsPlaintext)
    }
}
