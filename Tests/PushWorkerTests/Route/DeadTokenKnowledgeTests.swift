import Testing

@testable import PushWorker

@Suite("What a new worker is to know of dead tokens", .timeLimit(.minutes(1)))
struct DeadTokenKnowledgeTests {
    enum Side { case holds, trusts, plain }

    private static func knowing(
        _ side: Side, _ answers: Int, latest: Double = 0, usual: Double = 0
    ) -> DeadTokenKnowledge {
        DeadTokenKnowledge(
            answers: answers, latest: latest, usual: usual, holds: side == .holds, isTrusted: side == .trusts)
    }

    private func begin(_ fleet: [DeadTokenKnowledge]) throws -> DeadTokenKnowledge {
        try #require(DeadTokenKnowledge(of: fleet))
    }

    @Test("A fleet that knows nothing teaches nothing")
    func nothing() {
        #expect(DeadTokenKnowledge(of: []) == nil)
    }

    @Test(
        "A hold or trust of any worker counts, unless others have more of the latest answers; a tie holds",
        arguments: [
            ([(.holds, 500)], .holds), ([(.trusts, 500)], .trusts), ([(.plain, 500)], .plain),
            ([(.holds, 500), (.plain, 500)], .holds), ([(.holds, 500), (.plain, 0)], .holds),
            ([(.holds, 0), (.plain, 0)], .holds), ([(.trusts, 0), (.plain, 0)], .trusts),
            ([(.holds, 64), (.plain, 9_000_000)], .holds), ([(.holds, 50), (.plain, 64)], .plain),
            ([(.holds, 500), (.plain, 64), (.plain, 64)], .plain),
            ([(.holds, 500), (.plain, 20), (.plain, 20)], .holds),
            ([(.holds, 500), (.trusts, 500)], .holds), ([(.holds, 10), (.trusts, 500)], .trusts),
            ([(.holds, 64), (.trusts, 64), (.plain, 64)], .holds),
            ([(.holds, 64), (.trusts, 64), (.plain, 64), (.plain, 64), (.plain, 1)], .plain),
        ] as [([(Side, Int)], Side)])
    func sides(_ fleet: [(Side, Int)], _ wanted: Side) throws {
        for fleet in [fleet, fleet.reversed()] {
            let begun = try begin(fleet.map { Self.knowing($0.0, $0.1) })
            #expect(begun.holds == (wanted == .holds) && begun.isTrusted == (wanted == .trusts), "\(fleet)")
        }
    }

    @Test("The usual share is the mean by answers, and what nobody remembers any more weighs nothing")
    func usual() throws {
        let few = [Self.knowing(.plain, 100, usual: 0.1), Self.knowing(.plain, 300, usual: 0.3)]
        #expect(try begin(few).usual == 0.25)
        let old = Self.knowing(.plain, 1_000_000_000, usual: 0.2)
        #expect(try begin([old, Self.knowing(.plain, 4_096, usual: 0.4)]).usual == 0.3)
        #expect(try begin([old, Self.knowing(.plain, 0, usual: 0.9)]).usual == 0.2)
        let told = [Self.knowing(.plain, 0, usual: 0.2), Self.knowing(.plain, 0, usual: 0.4)]
        #expect(try begin(told).usual == 0.3, "workers that were told, and pushed nothing since")
        #expect(try begin([Self.knowing(.holds, 100, usual: 0.1), old]).usual > 0.19)
    }

    @Test("The latest share is that of the workers that are followed")
    func latest() throws {
        let held = [Self.knowing(.holds, 64, latest: 1), Self.knowing(.holds, 64, latest: 0.8)]
        #expect(try begin(held + [Self.knowing(.plain, 64, latest: 0.1)]).latest == 0.9)
        let plain = (1...3).map { _ in Self.knowing(.plain, 64, latest: 0.1) }
        #expect(try begin(held + plain).latest == 0.1)
        #expect(try begin([Self.knowing(.plain, 30, latest: 1), Self.knowing(.plain, 10, latest: 0)]).latest == 0.75)
    }

    @Test("A hold is as firm as any, and other knowledge weighs what the workers' answers weigh")
    func answers() throws {
        #expect(try begin([Self.knowing(.holds, 0, latest: 1)]).answers == 64)
        #expect(try begin([Self.knowing(.trusts, 0, latest: 1)]).answers == 64)
        #expect(try begin([Self.knowing(.plain, 3), Self.knowing(.plain, 4)]).answers == 7)
        #expect(try begin([Self.knowing(.plain, 1_000)]).answers == 64)
        #expect(try begin([Self.knowing(.plain, 0, usual: 0.3)]).answers == 0)
    }

    @Test("A worker that is said to hold and to trust holds")
    func both() throws {
        let begun = try begin([DeadTokenKnowledge(answers: 9, latest: 1, usual: 0, holds: true, isTrusted: true)])
        #expect(begun.holds && !begun.isTrusted)
    }
}
