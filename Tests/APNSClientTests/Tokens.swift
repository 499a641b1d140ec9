import TLS

@testable import APNSClient

/// Sources of provider tokens for tests.
enum Tokens {
    static func source() throws -> ProviderTokenSource {
        ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: try .generate())
    }
}
