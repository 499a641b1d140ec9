import Testing
import Text

@Suite("UUIDs", .timeLimit(.minutes(1)))
struct UUIDBytesTests {
    @Test(
        "both cases are read and lower case is written",
        arguments: ["EABEAE54-14A8-11E5-B60B-1697F925EC7B", "eabeae54-14a8-11e5-b60b-1697f925ec7b"])
    func parse(_ text: String) {
        let uuid = UUIDBytes(high: 0xEABE_AE54_14A8_11E5, low: 0xB60B_1697_F925_EC7B)
        #expect(UUIDBytes.parse(text) == uuid)
        #expect(uuid.description == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    }

    @Test(
        "what is not a UUID is not read as one",
        arguments: [
            "", "eabeae54-14a8-11e5-b60b-1697f925ec7", "eabeae54-14a8-11e5-b60b-1697f925ec7b0",
            "eabeae5414a811e5b60b1697f925ec7b", "{abeae54-14a8-11e5-b60b-1697f925ec7}",
            "eabeae54-14a8-11e5-b60b-1697f925ec7g", "eabeae54014a8-11e5-b60b-1697f925ec7b",
            "-abeae54-14a8-11e5-b60b-1697f925ec7b", "eabeae54-14a8-11e5-b60b-1697f925ecé",
        ])
    func parseFails(_ text: String) {
        #expect(UUIDBytes.parse(text) == nil)
    }

    @Test("each UUID's text is read as the same UUID")
    func roundTrip() {
        var generator = SplitMix64(seed: 3)
        for _ in 0..<1_000 {
            let uuid = UUIDBytes(high: generator.next(), low: generator.next())
            #expect(UUIDBytes.parse(uuid.description) == uuid)
        }
    }
}
