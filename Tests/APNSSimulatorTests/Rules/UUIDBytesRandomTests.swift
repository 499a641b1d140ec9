import Testing
import Text

@testable import APNSSimulator

@Suite("Identifiers that the simulator makes", .timeLimit(.minutes(1)))
struct UUIDBytesRandomTests {
    @Test("are random UUIDs: version and variant stand in their places")
    func random() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<100 {
            let random = UUIDBytes.random(using: &generator)
            #expect(UUIDBytes.parse(random.description) == random)
            #expect(Array(random.description)[14] == "4")
            #expect("89ab".contains(Array(random.description)[19]))
        }
        #expect(UUIDBytes.random() != UUIDBytes.random())
    }
}
