import Testing

@testable import Text

@Suite("Arithmetic on numbers of others", .timeLimit(.minutes(1)))
struct SaturatingTests {
    @Test("Sums, differences and products stay at the ends of the range")
    func integers() {
        let (least, most) = (Int64.min, Int64.max)
        let sums = [2 +| 3, most +| 1, least +| -1, most +| least]
        #expect(sums == [5, most, least, -1])
        let differences = [2 -| 3, least -| 1, most -| -1, 1_763_712_800_174 -| least]
        #expect(differences == [-1, least, most, most])
        let products = [-2 *| 3, most *| 2, most *| -2, least *| least]
        #expect(products == [-6, most, least, most])
        let unsigned: [UInt64] = [2 -| 3, .max +| 1, .max *| 2]
        #expect(unsigned == [0, .max, .max])
    }

    @Test(
        "A number with a fraction becomes a whole one of the range",
        arguments: [
            (1.9, 1), (-1.9, -1), (1e300, .max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0),
            (0x1p63, .max), (-0x1p63, .min),
        ] as [(Double, Int64)])
    func fractions(number: Double, expected: Int64) {
        #expect(Int64(saturating: number) == expected)
    }
}
