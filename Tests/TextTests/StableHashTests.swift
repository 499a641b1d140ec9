import Testing
import Text

@Suite("Stable hashes", .timeLimit(.minutes(1)))
struct StableHashTests {
    // The offset basis, and "a" and "foobar" of the FNV reference (http://www.isthe.com/chongo/src/fnv/test_fnv.c).
    @Test(
        "Hashes are those of every other process and version",
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)])
    func reference(_ text: String, _ hash: UInt64) {
        let bytes = Array(text.utf8)
        #expect(StableHash.of(text) == hash)
        let ofBytes = StableHash.of(bytes.span)
        #expect(ofBytes == hash)
    }

    @Test("A seed changes the hash")
    func seeds() {
        let bytes = Array("foobar".utf8)
        let hashes = [0, 1, 2].map { StableHash.of(bytes.span, seed: $0) }
        #expect(Set(hashes).count == 3)
    }

    @Test("Spreading a number keeps different numbers different")
    func spread() {
        #expect(StableHash.spread(0) == 0)
        #expect(StableHash.spread(1) == 0xB456_BCFC_34C2_CB2C)
    }
}
