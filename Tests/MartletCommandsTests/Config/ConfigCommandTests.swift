import FoundationEssentials
import LocalStack
import TestSupport
import Testing

@Suite("martlet config", .timeLimit(.minutes(1)))
struct ConfigCommandTests {
    @Test("The example and the table are those of the repository, byte for byte")
    func texts() throws {
        func text(_ path: String) throws -> String {
            String(
                decoding: try Data(contentsOf: URL(filePath: "\(PythonEnvironment.repository)/\(path)")), as: UTF8.self)
        }
        #expect(try Executable.run(["config", "example"]).text == text("config/martlet.yaml"))
        let table = try Executable.run(["config", "keys"]).text
        #expect(table.hasPrefix("| key | type | default | range | meaning |\n"))
        #expect(
            try text("Sources/martlet/Documentation.docc/Configuration.md").contains("## Every key\n\n\(table)\n## "))
    }
}
