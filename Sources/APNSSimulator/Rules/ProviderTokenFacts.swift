/// What a provider token says about its maker, once its signature is verified.
struct ProviderTokenFacts: Equatable {
    /// `kid`.
    var keyID: String
    /// `iss`.
    var teamID: String
    /// `iat`, seconds since 1970.
    var issuedAt: Int64
}
