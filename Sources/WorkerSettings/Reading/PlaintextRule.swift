/// The rule that logins and messages leave this machine encrypted, unless the configuration allows plaintext.
enum PlaintextRule {
    /// What is wrong with an address that breaks the rule, and the two ways out.
    ///
    /// - Parameters:
    ///   - host: Where the address leads.
    ///   - secure: How an encrypted one would begin.
    static func message(host: String, secure: String) -> String {
        "the way to \(host) is not encrypted: write \(secure), or set broker.allow_plaintext: true where everybody on "
            + "the network may read passwords, device tokens and payloads"
    }
}
