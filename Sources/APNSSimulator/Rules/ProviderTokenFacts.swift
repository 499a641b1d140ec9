/// What a provider token says about its maker.
///
/// The signature is verified before, except where any well-formed token is good.
struct ProviderTokenFacts: Equatable {
    /// `kid`.
    var keyID: String
    /// `iss`.
    var teamID: String
    /// `iat`, seconds since 1970.
    var issuedAt: Int64
}
