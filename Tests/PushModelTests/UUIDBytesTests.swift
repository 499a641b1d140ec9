import Testing

@testable import PushModel

@Suite("UUIDs", .timeLimit(.minutes(1)))
struct UUIDBytesTests {
    @Test("the contract's namespace is written as the contract writes it")
    func namespace() {
        var text: [UInt8] = []
        UUIDBytes.contractNamespace.append(to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "268fde28-cb90-48d3-9071-c4bed60c6d28")
    }
}
