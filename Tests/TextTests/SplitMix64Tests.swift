import Testing
import Text

@Suite("SplitMix64", .timeLimit(.minutes(1)))
struct SplitMix64Tests {
    @Test("gives the numbers that its author publishes for the seed 1234567")
    func published() {
        var generator = SplitMix64(seed: 1_234_567)
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect((0..<5).map { _ in generator.next() } == expected)
    }

    @Test("gives fractions from 0 up to 1, evenly")
    func fractions() {
        var generator = SplitMix64(seed: 7)
        let fractions = (0..<10_000).map { _ in generator.fraction() }
        #expect(fractions.allSatisfy { (0..<1).contains($0) })
        #expect((4_800...5_200).contains(fractions.count { $0 < 0.5 }))
    }
}
