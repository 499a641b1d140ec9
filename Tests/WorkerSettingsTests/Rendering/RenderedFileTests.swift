import Foundation
import Testing
import Topology

@testable import WorkerSettings

/// Files of the repository that the program renders. `MARTLET_RENDER_EXAMPLES=1` writes them again after a change.
@Suite("Rendered files", .timeLimit(.minutes(1)))
struct RenderedFileTests {
    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let page = "Sources/martlet/Documentation.docc/Configuration.md"

    /// Holds a file to what it should be.
    ///
    /// - Parameters:
    ///   - path: The file, from the top of the repository.
    ///   - render: Makes its text from the text that it has.
    private func expect(_ path: String, _ render: (String) throws -> String) throws {
        let file = Self.repository.appendingPathComponent(path)
        let text = try String(contentsOf: file, encoding: .utf8)
        let rendered = try render(text)
        if ProcessInfo.processInfo.environment["MARTLET_RENDER_EXAMPLES"] == "1" {
            try Data(rendered.utf8).write(to: file)
        } else {
            let isSame = text == rendered
            #expect(isSame, "\(path): MARTLET_RENDER_EXAMPLES=1 .ci/test --filter RenderedFileTests writes it again")
        }
    }

    /// The configuration that the example file is, with the file that it names.
    private func example() throws -> WorkerConfiguration {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        try fixture.write("AuthKey_ABC1234567.p8", "key")
        return try fixture.load(ExampleFile.text).get()
    }

    @Test("the example file is what the program prints")
    func exampleFile() throws {
        try expect("config/martlet.yaml") { _ in ExampleFile.text }
    }

    @Test("the first input of the fuzzer has every key, and names a file that is there")
    func fuzzCorpus() throws {
        try expect("Tests/FuzzTests/Corpus/configuration/every-key.yaml") { _ in
            ExampleFile.text(comments: false).replacing("AuthKey_ABC1234567.p8", with: "martlet.yaml")
        }
    }

    @Test("the page has the table of all keys")
    func table() throws {
        try expect(Self.page) { text in
            let parts = text.components(separatedBy: "## Every key\n\n")
            let rest = try #require(parts[1].range(of: "\n\n## "))
            return "\(parts[0])## Every key\n\n\(KeyTable.text)\(parts[1][rest.lowerBound...].dropFirst())"
        }
    }

    @Test("the rendered example definitions are those of the example configuration")
    func definitions() throws {
        let definitions = try example().topology(virtualHost: "/").definitions()
        try expect("config/rabbitmq/definitions.json") { _ in definitions }
    }

    @Test("the example file states the defaults")
    func defaults() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        var example = try example()
        let least = try fixture.load(minimalConfiguration).get()
        example.credentials = least.credentials
        example.routes = least.routes
        #expect("\(example)" == "\(least)")
        #expect(example.broker.uris == least.broker.uris)
    }

    @Test(
        "a line of the example file has a key, its value, and its help, its range and what the default stands for; none is long"
    )
    func lines() {
        let lines = ExampleFile.text.split(separator: "\n")
        #expect(lines.filter { $0.count > 120 } == [])
        let expected: [Substring] = [
            "  ping_interval: 1h                 # a connection silent for this long gets a PING (1s to 24h)",
            "    ca_file: null                   # the authorities that may sign the broker's certificate (PEM); null: the system's",
            "                                    # certificates",
            "  - name: example-key               # what routes call it (1 to 100 letters, digits, \".\", \"_\" and \"-\")",
            "    kind: token                     # a provider token key, or a push certificate, from which topics and environment are",
            "    topics: [com.example.app]       # bundle identifiers; each comes with its suffixes: .voip, .complication and so on",
            "  allow: \"^apns\\\\.q\\\\.reply\\\\..+$\"  # which reply_to of jobs are answered (POSIX extended expression)",
        ]
        #expect(expected.filter { !lines.contains($0) } == [])
    }

    @Test("a row of the table has type, default, range and meaning")
    func rows() {
        let rows = KeyTable.text.split(separator: "\n")
        let expected: [Substring] = [
            "| `apns.ping_interval` | duration | `1h` | 1s to 24h | a connection silent for this long gets a PING |",
            "| `routes[].environment` | text | required | `production`, `development` | which APNs its device tokens belong to |",
            "| `retry.max_age` | duration | `6h` | 1s to 720h | time from the first attempt to the last |",
            "| `results.device_token` | text | `full` | `full`, `omit` | whether results name the device token |",
            "| `routes[].connections` | number or `auto` | `auto`: up to 8 | 1 to 64 | connections to APNs of one worker; opened for jobs |",
            "| `broker.tls.cert_file` | path | none | PEM | client certificate |",
        ]
        #expect(expected.filter { !rows.contains($0) } == [])
        #expect(rows.count == WorkerKeys.present.count + 2)
    }
}
