/// What was changed about a simulator while it ran and must survive a restart: its clock and what it revoked.
struct KeptControl: Codable, Equatable {
    /// How far the clock is ahead, in milliseconds.
    var clockAdvance: Int64 = 0
    /// The identifiers of revoked keys.
    var revokedKeys: Set<String> = []
    /// The serial numbers of revoked certificates.
    var revokedCertificates: Set<String> = []
    /// When keys will be revoked, in milliseconds since 1970; nil in the file of an older version.
    var keysDue: [String: Int64]?
    /// When certificates will be revoked, in milliseconds since 1970; nil in the file of an older version.
    var certificatesDue: [String: Int64]?
}
