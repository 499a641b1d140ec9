/// The keys of an entry of `credentials`.
struct CredentialKeys: Sendable {
    /// What a credential is.
    enum Kind: String, CaseIterable {
        /// A provider token key.
        case token
        /// A push certificate.
        case certificate
    }

    let name = SettingKey(
        required: "credentials[].name", .name(1...100, "1 to 100"), example: "example-key", "what routes call it")
    let kind = SettingKey(
        required: "credentials[].kind", .choice(Kind.self), example: .token,
        "a provider token key, or a push certificate, from which topics and environment are read")
    let keyFile = SettingKey(
        "credentials[].key_file", .path(), example: "AuthKey_ABC1234567.p8",
        "token: Apple's `.p8` file; certificate: the key in PEM, unencrypted")
    let keyID = SettingKey(
        "credentials[].key_id", .appleIdentifier, example: "ABC1234567", "token: the key's id, also in the file's name")
    let teamID = SettingKey(
        "credentials[].team_id", .appleIdentifier, example: "DEF7654321", "token: the team's id")
    let file = SettingKey(
        "credentials[].file", .path("PKCS#12"), "certificate: as a key chain exports it; old exports too")
    let passwordFile = SettingKey(
        "credentials[].password_file", .path(), without: "no password",
        "certificate: its first line is the password of `file`")
    let certFile = SettingKey(
        "credentials[].cert_file", .path("PEM"),
        "certificate: instead of `file`, the certificate, and those above it; needs `key_file`")
}
