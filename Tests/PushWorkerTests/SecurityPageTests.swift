import Foundation
import Testing

@Suite("The security page", .timeLimit(.minutes(1)))
struct SecurityPageTests {
    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// All Swift files below a directory, as one text.
    private static func sources(_ directory: String) throws -> String {
        let root = repository.appendingPathComponent(directory)
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }

    @Test("each limit and each test that the page names exists")
    func names() throws {
        let page = try String(contentsOf: Self.repository.appendingPathComponent("SECURITY.md"), encoding: .utf8)
        let (sources, tests) = (try Self.sources("Sources"), try Self.sources("Tests"))
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .filter { $0.count == 4 && $0[0] != "attack" }
        #expect(rows.count > 20)
        for row in rows {
            let limit = row[2].trimmingCharacters(in: ["`"])
            if limit != "–" {
                let isDeclared = ["static let \(limit)", "var \(limit)", "let \(limit)"].contains {
                    sources.contains($0)
                }
                #expect(isDeclared, "\(row[0]): no limit \(limit)")
            }
            let test = row[3].trimmingCharacters(in: ["`"])
            #expect(tests.contains("\"\(test)\""), "\(row[0]): no test \(test)")
        }
    }
}
