import EventLoop
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient

extension CredentialRotation.Step {
    /// What the pool does, with the numbers of versions and requests.
    fileprivate var text: String {
        switch self {
        case .openProof(let version): "open \(version.version)"
        case .dropProof(let proof): "drop request \(proof.request ?? 0)"
        case .switchTo(let version, after: let proof):
            "switch to \(version.version) after request \(proof.request ?? 0)"
        case .closeAll(let version): "close \(version)"
        }
    }
}

@Suite("The versions of a credential", .timeLimit(.minutes(1)))
struct CredentialRotationTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private let context: TLSContext

    init() throws { context = try ThrowawayCertificates().clientContext() }

    private func version(_ number: Int, validity: ClosedRange<Int64>? = nil) -> APNSCredential {
        APNSCredential(name: "key", version: number, context: context, validity: validity)
    }

    /// Version 1 in use, and version 2 on a connection that was asked for with request 7.
    private func proving() throws -> CredentialRotation {
        var rotation = CredentialRotation(version(1))
        let change = rotation.offered(version(2))
        #expect(change?.steps.map(\.text) == ["open 2"] && change?.event == nil)
        rotation.began(7)
        return rotation
    }

    @Test("A version that is not newer than all known ones changes nothing")
    func oldVersions() throws {
        var rotation = try proving()
        #expect(rotation.offered(version(1)) == nil && rotation.offered(version(2)) == nil)
        #expect(rotation.current.version == 1 && rotation.unprovedVersion == 2 && rotation.proof.request == 7)
    }

    @Test("An accepted version is used, and its proof is over")
    func accepted() throws {
        var rotation = try proving()
        let change = rotation.judged(2, .accepted)
        #expect(change?.steps.map(\.text) == ["switch to 2 after request 7"])
        #expect(change?.event == .switched(version: 2))
        #expect(rotation.current.version == 2 && rotation.unprovedVersion == nil && rotation.proof.request == nil)
        #expect(!rotation.isUnproved(rotation.current))
    }

    @Test("A refused candidate is kept as the spare version, and takes its turn when the one in use is refused")
    func refused() throws {
        var rotation = try proving()
        let first = rotation.judged(2, .refused(.everyRoute), reason: "InvalidProviderToken")
        #expect(first?.steps.map(\.text) == ["drop request 7"])
        #expect(first?.event == .candidateRefused(version: 2, reason: "InvalidProviderToken"))
        #expect(rotation.current.version == 1 && rotation.spare?.version == 2 && !rotation.isRefused)
        #expect(rotation.judged(2, .refused(.everyRoute)) == nil, "a late answer is not news")

        let second = rotation.judged(1, .refused(.oneRoute), reason: "BadTopic")
        #expect(second?.steps.map(\.text) == ["close 1"])
        #expect(second?.event == .refused(version: 1, reason: "BadTopic", concerns: .oneRoute))
        #expect(rotation.isRefused)

        let third = rotation.retry()
        #expect(third?.steps.map(\.text) == ["switch to 2 after request 0"] && third?.event == .retried(version: 2))
        #expect(rotation.current.version == 2 && rotation.spare?.version == 1 && !rotation.isRefused)
        #expect(rotation.retry() == nil, "connections are wanted already")
    }

    @Test("The only version is tried again without news")
    func onlyVersion() throws {
        var rotation = CredentialRotation(version(1))
        _ = rotation.judged(1, .refused(.everyRoute))
        let change = rotation.retry()
        #expect(change?.steps.isEmpty == true && change?.event == nil && !rotation.isRefused)
    }

    @Test(
        "A version that is turned away before it is proved makes room, and is tried again after a wait",
        arguments: [
            (.doubted, CredentialRotation.proofRetry), (.tokenChangedTooOften, CredentialRotation.tokenUpdateRetry),
        ] as [(CredentialVerdict, Duration)])
    func turnedAway(verdict: CredentialVerdict, wait: Duration) throws {
        var rotation = try proving()
        let tried = rotation.reached(2)
        #expect(tried.steps.map(\.text) == ["switch to 2 after request 7"] && tried.event == .tried(version: 2))
        #expect(rotation.isTrying && rotation.isUnproved(rotation.current) && rotation.unprovedVersion == 2)

        let change = rotation.turnedAway(2, verdict, now: Self.start)
        #expect(change.steps.map(\.text) == ["switch to 1 after request 0"] && change.event == nil)
        #expect(rotation.current.version == 1 && rotation.unprovedVersion == 2 && !rotation.isTrying)
        #expect(rotation.proofDue == Self.start + wait)
        #expect(rotation.retryProof().steps.map(\.text) == ["open 2"])
        #expect(rotation.proofDue == nil)
    }

    @Test("A proof whose connection is lost is tried again after a wait, which a shorter one does not replace")
    func lostProof() throws {
        var rotation = try proving()
        rotation.proofLost(now: Self.start)
        #expect(rotation.proofDue == Self.start + CredentialRotation.proofRetry)
        _ = rotation.retryProof()
        rotation.began(8)
        _ = rotation.turnedAway(2, .tokenChangedTooOften, now: Self.start)
        rotation.proofLost(now: Self.start)
        #expect(rotation.proofDue == Self.start + CredentialRotation.tokenUpdateRetry)
    }

    @Test(
        "A certificate whose time is over gives way to the spare version, if that is valid now",
        arguments: [(50, true), (150, false)] as [(Int64, Bool)])
    func expired(seconds: Int64, isSpareUsed: Bool) throws {
        var rotation = CredentialRotation(version(1))
        rotation.keep(spare: version(2, validity: 0...100))
        let change = rotation.expired(seconds: seconds)
        #expect(change?.steps.map(\.text) == (isSpareUsed ? ["close 1", "switch to 2 after request 0"] : ["close 1"]))
        #expect(change?.event == (isSpareUsed ? .retried(version: 2) : nil))
        #expect(rotation.isRefused == !isSpareUsed)
        #expect((rotation.expired(seconds: seconds) == nil) == !isSpareUsed)
    }
}
