import EventLoop
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("The provider token of a connection", .timeLimit(.minutes(1)))
struct ConnectionTokenTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    static let wall: Int64 = 1_800_000_000

    private func credential(_ tokens: ProviderTokenSource?) throws -> APNSCredential {
        APNSCredential(name: "key", context: try ThrowawayCertificates().clientContext(), tokens: tokens)
    }

    @Test("A certificate needs no token")
    func certificate() throws {
        let token = try ConnectionToken(of: try credential(nil), wallSeconds: Self.wall)
        #expect(token.held == nil && !token.isDue(now: Self.start))
        #expect(token.replaceExpired(wallSeconds: Self.wall) == nil)
    }

    @Test("The first request takes the newest token, and keeps it until it is 50 to 55 minutes old")
    func change() throws {
        let source = try Tokens.source()
        var token = try ConnectionToken(of: try credential(source), wallSeconds: Self.wall)
        #expect(token.held?.generation == 1 && token.isDue(now: Self.start))
        var random = SplitMix64(seed: 3)
        try token.change(now: Self.start, wallSeconds: Self.wall + 1_800, random: &random)
        #expect(token.held?.generation == 2)
        #expect(!token.isDue(now: Self.start + .seconds(50 * 60 - 1)))
        #expect(token.isDue(now: Self.start + .seconds(55 * 60)))
    }

    @Test("An expired token is told once there is a newer one", arguments: [(59, nil), (60, 1)] as [(Int64, Int?)])
    func expired(age: Int64, replaced: Int?) throws {
        let source = try Tokens.source()
        let token = try ConnectionToken(of: try credential(source), wallSeconds: Self.wall)
        #expect(token.replaceExpired(wallSeconds: Self.wall + age) == replaced)
        #expect(token.held?.generation == 1)
    }
}
