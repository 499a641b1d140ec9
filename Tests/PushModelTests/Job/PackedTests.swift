import Testing

@testable import PushModel

@Suite("Packed ranges", .timeLimit(.minutes(1)))
struct PackedTests {
    @Test("A packed range is the one that was put in", arguments: [0..<0, 0..<1, 7..<300, 0..<Int(UInt32.max)])
    func range(range: Range<Int>) {
        var packed = Packed(wrappedValue: 1..<2)
        packed.wrappedValue = range
        #expect(packed.wrappedValue == range)
        var maybe = PackedIfAny()
        #expect(maybe.wrappedValue == nil)
        maybe.wrappedValue = range
        #expect(maybe.wrappedValue == range)
        maybe.wrappedValue = nil
        #expect(maybe.wrappedValue == nil)
    }
}
