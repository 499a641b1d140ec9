import Testing
import Text

@testable import TLS

@Suite("Sealing", .timeLimit(.minutes(1)))
struct SealingKeyTests {
    let nonce = [UInt8](repeating: 7, count: SealingKey.nonceLength)

    @Test("What a key seals it opens, and nobody else", arguments: [0, 1, 15, 16, 17, 200])
    func roundTrip(length: Int) throws {
        let key = try SealingKey.generate()
        let text = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = try key.seal(text, nonce: nonce)
        #expect(sealed.count == length + SealingKey.tagLength)
        #expect(key.open(sealed[...], nonce: nonce) == text)
        #expect(try SealingKey(bytes: key.bytes).open(sealed[...], nonce: nonce) == text)
        #expect(try SealingKey.generate().open(sealed[...], nonce: nonce) == nil)
        #expect(key.open(sealed[...], nonce: [UInt8](repeating: 8, count: 12)) == nil)
    }

    @Test("A changed bit anywhere is noticed")
    func changed() throws {
        let key = try SealingKey.generate()
        let sealed = try key.seal(Array("a device".utf8), nonce: nonce)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1
            #expect(key.open(other[...], nonce: nonce) == nil)
        }
        for length in sealed.indices { #expect(key.open(sealed[..<length], nonce: nonce) == nil) }
    }

    @Test("The result is that of the standard: test case 14 of the GCM specification")
    func standard() throws {
        let key = try SealingKey(bytes: [UInt8](repeating: 0, count: 32))
        let sealed = try key.seal([UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12))
        #expect(HexText.text(sealed) == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
    }

    @Test("A key of another length is refused", arguments: [0, 16, 31, 33])
    func wrongLength(_ length: Int) {
        let error = #expect(throws: TLSError.self) { try SealingKey(bytes: [UInt8](repeating: 1, count: length)) }
        #expect(error?.code == .invalidKey)
    }
}
