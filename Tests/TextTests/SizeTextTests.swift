import Testing
import Text

@Suite("Sizes as text", .timeLimit(.minutes(1)))
struct SizeTextTests {
    @Test(
        "a size is a whole number and a unit",
        arguments: [
            ("0KiB", 0), ("1KiB", 1_024), ("256MiB", 256 << 20), ("2GiB", 2 << 30), ("1TiB", 1 << 40), ("", nil),
            ("256", nil), ("MiB", nil), ("256 MiB", nil), ("256mib", nil), ("256MB", nil), ("-1MiB", nil),
            ("1.5GiB", nil),
            ("9223372036854775807KiB", nil), ("99999999999999999999MiB", nil),
        ] as [(String, Int?)])
    func parse(_ text: String, _ bytes: Int?) { #expect(SizeText.parse(text) == bytes) }

    @Test(
        "a size is written in the largest unit that divides it",
        arguments: [(0, "0KiB"), (1_024, "1KiB"), (1_536 << 10, "1536KiB"), (256 << 20, "256MiB"), (1 << 40, "1TiB")])
    func write(_ bytes: Int, _ text: String) { #expect(SizeText.write(bytes) == text) }
}
