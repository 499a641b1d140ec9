import TestSupport
import Testing

@testable import WorkerSettings

@Suite("The page about the kinds of credentials", .timeLimit(.minutes(1)))
struct CredentialPageTests {
    @Test("Credentials lists the kinds of credentials that a configuration may have, and no other")
    func kinds() throws {
        // They stand before the first section.
        let listed = try Page(documentation: "Credentials").names("kind", in: "Credentials")
        #expect(listed == CredentialKeys.Kind.allCases.map(\.rawValue))
    }
}
