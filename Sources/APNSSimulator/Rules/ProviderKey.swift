import FoundationEssentials
package import TLS

/// The public half of a provider's signing key, and what it may be used for.
///
/// See Apple, "Establishing a token-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
package struct ProviderKey: Sendable {
    /// The ten-character key identifier, `kid` in a token.
    package var keyID: String
    /// The ten-character team identifier, `iss` in a token.
    package var teamID: String
    /// Verifies signatures.
    package var publicKey: ES256PublicKey
    /// The bundle identifiers of a topic-specific key; nil for a key of the whole team.
    package var topics: Set<String>?
    /// The environment the key is limited to; nil for both.
    package var environment: ServiceEnvironment?
    /// The one other topic-specific key that may be used on the same connection.
    package var relatedKeyID: String?

    /// Describes a key.
    ///
    /// - Parameters:
    ///   - keyID: The key identifier.
    ///   - teamID: The team identifier.
    ///   - publicKey: Verifies signatures.
    ///   - topics: Bundle identifiers, for a topic-specific key.
    ///   - environment: The only environment the key is for; nil for both.
    ///   - relatedKeyID: The related key's identifier.
    package init(
        keyID: String, teamID: String, publicKey: ES256PublicKey, topics: Set<String>? = nil,
        environment: ServiceEnvironment? = nil, relatedKeyID: String? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.topics = topics
        self.environment = environment
        self.relatedKeyID = relatedKeyID
    }

    /// Reads the command line's form `KEYID:TEAMID:FILE`.
    ///
    /// Three parts may follow: `:topic,topic…` for a topic-specific key, `:environment=…` for a key of one environment
    /// and `:related=KEYID` for its related key.
    ///
    /// - Parameter text: The argument; the file holds a `.p8` private key or a public key in PEM.
    /// - Throws: ``SimulatorError`` where the form is wrong, the file is unreadable or holds no P-256 key.
    package init(argument text: String) throws(SimulatorError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (3...6).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { throw Self.unreadable(text) }
        try Self.check(parts[0], "key", in: text)
        try Self.check(parts[1], "team", in: text)
        let publicKey = try Self.publicKey(file: parts[2])
        self.init(keyID: parts[0], teamID: parts[1], publicKey: publicKey)
        for part in parts[3...] {
            let words = part.split(separator: "=", maxSplits: 1).map(String.init)
            switch (words.count, words[0]) {
            case (1, _): topics = Set(part.split(separator: ",").map(String.init))
            case (_, "environment"):
                guard let limited = ServiceEnvironment(rawValue: words[1]) else { throw Self.unreadable(text) }
                environment = limited
            case (_, "related"):
                try Self.check(words[1], "key", in: text)
                relatedKeyID = words[1]
            default: throw Self.unreadable(text)
            }
        }
    }

    /// How many letters and digits Apple's identifiers of keys and teams have.
    private static let identifierLength = 10

    private static func check(_ identifier: String, _ kind: String, in text: String) throws(SimulatorError) {
        let isGood = identifier.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard isGood, identifier.utf8.count == identifierLength else {
            throw SimulatorError(
                .configuration,
                "\(identifier) is not a \(kind) identifier, which has \(identifierLength) letters and digits, in \(text)"
            )
        }
    }

    private static func unreadable(_ text: String) -> SimulatorError {
        SimulatorError(
            .configuration,
            "a key is written KEYID:TEAMID:FILE, then perhaps :TOPIC,TOPIC and :environment=production or development "
                + "and :related=KEYID; this is not: \(text)")
    }

    private static func publicKey(file: String) throws(SimulatorError) -> ES256PublicKey {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw SimulatorError(.file, "cannot read the key file \(file)")
        }
        let pem = [UInt8](data)
        do {
            if String(decoding: pem, as: UTF8.self).contains("PUBLIC KEY") { return try ES256PublicKey(pem: pem) }
            return try ES256PrivateKey(pem: pem).publicKey
        } catch {
            throw SimulatorError(.credential, "\(file) is not a P-256 key in PEM: \(error)")
        }
    }
}
