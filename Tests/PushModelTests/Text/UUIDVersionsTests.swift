import TLS
import Testing
import Text

@testable import PushModel

@Suite("UUIDs made of names and times, and SHA-1", .timeLimit(.minutes(1)))
struct UUIDVersionsTests {
    @Test("the contract's namespace is written as the contract writes it")
    func namespace() {
        #expect(UUIDBytes.contractNamespace.description == "268fde28-cb90-48d3-9071-c4bed60c6d28")
    }

    @Test(
        "SHA-1 gives the known digests, whatever the length is to a block",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
            (String(repeating: "a", count: 63), "03f09f5b158a7a8cdad920bddc29b81c18a551f5"),
            (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
            (String(repeating: "a", count: 65), "11655326c708d70319be2610e8a57d9a5b959d3b"),
            (String(repeating: "a", count: 119), "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"),
            (String(repeating: "a", count: 120), "f34c1488385346a55709ba056ddd08280dd4c6d6"),
            (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ])
    func digests(_ text: String, _ expected: String) {
        var hash = SHA1()
        hash.update(text.bytes.span)
        let digest = hash.finish()
        let text = digest.indices.map { String(digest[$0] >> 4, radix: 16) + String(digest[$0] & 15, radix: 16) }
        #expect(text.joined() == expected)
    }

    @Test(
        "version-5 UUIDs are those that others compute in the contract's namespace",
        arguments: [
            ("0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90/1/0", "3cdd55aa-9b60-5de9-b1e1-1b251eda9143"),
            ("job-1/0", "637ddbab-f916-5067-bea6-01bebe655b59"), ("job-1/999", "ee6a05d1-e171-5775-befd-73946c453fb6"),
            ("job-1/replay-7/2/3", "af08c07c-1fd2-594a-be09-9184914b0b3c"),
            ("", "dbb89298-604d-5d5c-94ab-19aa94250def"), ("ä/1/0", "f13a050d-61e1-50ae-af26-aed12bfc7b6b"),
            ("order 4711/6/12", "dfd6ba69-9e63-56a6-9867-311721f5357f"),
            (String(repeating: "x", count: 47), "786bf11f-dc99-5f61-b577-7137dd70ebd8"),
            (String(repeating: "x", count: 48), "b6035594-6ad5-571c-99b5-eaa7832292aa"),
            (String(repeating: "x", count: 200), "301011e5-2aeb-5e26-94c1-d52dc8a47260"),
        ])
    func version5(_ name: String, _ expected: String) {
        #expect(UUIDBytes.v5(namespace: .contractNamespace, name: name).description == expected)
    }

    @Test("a version-5 UUID in the DNS namespace is the one of RFC 9562's appendix")
    func version5OfRFC() throws {
        let dns = try #require(UUIDBytes.parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        #expect(
            UUIDBytes.v5(namespace: dns, name: "www.example.com").description
                == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    @Test("a version-7 UUID carries the time, its version and its variant")
    func version7() {
        let ones = UUIDBytes.v7(milliseconds: 0x017F_22E2_79B0, random: (.max, .max))
        #expect(ones.description == "017f22e2-79b0-7fff-bfff-ffffffffffff")
        let zeros = UUIDBytes.v7(milliseconds: 0x017F_22E2_79B0, random: (0, 0))
        #expect(zeros.description == "017f22e2-79b0-7000-8000-000000000000")
    }
}
