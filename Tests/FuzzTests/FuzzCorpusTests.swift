import Foundation
import FuzzTargets
import Testing

@Suite("Hostile input", .timeLimit(.minutes(1)))
struct FuzzCorpusTests {
    @Test("Every kept input is survived, and so is every beginning of it", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) throws {
        let root = try #require(Bundle.module.resourceURL)
        let directory = root.appendingPathComponent("Corpus").appendingPathComponent(target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            let step = max(1, bytes.count / 64)
            for length in stride(from: 0, to: bytes.count, by: step) { target.run(Array(bytes.prefix(length))) }
            target.run(bytes)
        }
    }

    @Test("A flipped bit anywhere in a kept input is survived", arguments: FuzzTarget.allCases)
    func flips(target: FuzzTarget) throws {
        let root = try #require(Bundle.module.resourceURL)
        let directory = root.appendingPathComponent("Corpus").appendingPathComponent(target.rawValue)
        for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
            let bytes = [UInt8](try Data(contentsOf: file))
            let step = max(1, bytes.count / 32)
            for position in stride(from: 0, to: bytes.count, by: step) {
                var changed = bytes
                changed[position] ^= 1 << UInt8(position % 8)
                target.run(changed)
            }
        }
    }
}
