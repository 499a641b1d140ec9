import Testing

@testable import MartletCommands

@Suite("Keys and the names of their files", .timeLimit(.minutes(1)))
struct AppleKeyFileTests {
    @Test(
        "Apple's name for another key is noticed, and no other name",
        arguments: [
            ("AuthKey_ABC1234567.p8", false), ("/etc/keys/AuthKey_ABC1234567.p8", false),
            ("AuthKey_XYZ1234567.p8", true), ("/etc/keys/AuthKey_XYZ1234567.p8", true), ("push.p8", false),
            ("AuthKey_ABC1234567-2026.p8", false), ("AuthKey_XYZ1234567.pem", false), ("", false),
        ])
    func names(file: String, isMistaken: Bool) {
        let mismatch = AppleKeyFile.mismatch(file, keyID: "ABC1234567")
        let words = "key_id is ABC1234567, but the file AuthKey_XYZ1234567.p8 is Apple's name for the key XYZ1234567"
        #expect(mismatch == (isMistaken ? words : nil))
    }
}
