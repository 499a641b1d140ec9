import Foundation
import LocalStack
import PushModel
import TestSupport
import Testing

@testable import MartletCommands

@Suite("Help topics", .timeLimit(.minutes(1)))
struct HelpTopicTests {
    /// A topic, what its facts come from, and what it has to name.
    struct Topic: Sendable, CustomTestStringConvertible {
        var name: String
        var schemas: [String]
        /// A page and those of its sections whose tables name things in their first column.
        var page: String
        var sections: [String]

        var testDescription: String { name }
    }

    static let topics = [
        Topic(
            name: "job", schemas: ["job", "raw-job-headers"], page: "Producers",
            sections: [
                "Properties of both forms", "Headers of both forms", "Raw jobs", "Enveloped jobs", "Defaults",
                "Broadcast channels",
            ]),
        Topic(
            name: "result", schemas: ["result", "result-headers"], page: "Results",
            sections: ["The message", "The body", "Outcomes", "Actions", "Reasons of our own"]),
        Topic(
            name: "dead-letter", schemas: ["dead-letter-headers"], page: "DeadLetters",
            sections: ["Which queue", "What is in one", "Letters that the broker wrote", "Publish again"]),
    ]

    @Test("The list of commands has each topic", arguments: topics)
    func listed(_ topic: Topic) throws {
        let text = try Executable.run(["help"]).text
        #expect(text.split(separator: "\n").contains { $0.hasPrefix("  \(topic.name) ") })
    }

    @Test("A topic keeps within 80 columns, on a wide terminal too", arguments: topics, ["80", "200"])
    func width(_ topic: Topic, _ columns: String) throws {
        let outcome = try Executable.run(["help", topic.name], environment: ["COLUMNS": columns])
        #expect(outcome.status == 0)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count > 40)
        #expect(lines.filter { $0.count > 80 } == [])
    }

    @Test("A topic names every property of its schemas, with the schema's own description", arguments: topics)
    func properties(_ topic: Topic) throws {
        let text = try Executable.run(["help", topic.name]).text
        let lines = text.split(separator: "\n")
        for schema in topic.schemas {
            for (name, property) in try Self.properties(of: schema) {
                let description = try #require(property["description"]?.text, "\(schema), \(name)")
                let head = lines.firstIndex { $0.hasPrefix("  \(name): ") }
                let from = try #require(head, "\(schema), \(name)")
                #expect(Self.unbroken(lines[from...].joined(separator: "\n")).contains(description))
            }
        }
    }

    @Test("A topic names what the tables of its page name", arguments: topics)
    func pages(_ topic: Topic) throws {
        let text = try Executable.run(["help", topic.name]).text
        for section in topic.sections {
            let names = try Self.names(page: topic.page, section: section)
            #expect(!names.isEmpty, "\(section)")
            #expect(names.filter { !Self.has($0, in: text) } == [], "\(section)")
        }
    }

    @Test("The tables of a topic's page name what the topic explains", arguments: topics)
    func heads(_ topic: Topic) throws {
        let text = try Executable.run(["help", topic.name]).text
        var heads: [String] = []
        for line in text.split(separator: "\n") where line.hasPrefix("  ") && !line.hasPrefix("   ") {
            // A head is words with commas between them; other lines are paragraphs.
            let words = (line.components(separatedBy: ": ").first ?? "").dropFirst(2).description.components(
                separatedBy: ", ")
            let isHead = words.allSatisfy { word in
                !word.contains(" ") && (word.last?.isLetter == true || word.last?.isNumber == true)
            }
            if isHead { heads += words }
        }
        #expect(heads.count > 15)
        let cells = try Page(documentation: topic.page).cells.joined(separator: "\n")
        #expect(heads.filter { !Self.has($0, in: cells) } == [])
    }

    @Test(
        "A name is found as a whole word only",
        arguments: [
            ("id", "the id.", true), ("id", "job_id", false), ("id", "idle", false), ("id", "apns-id", false),
            ("apns-id", "x `apns-id` y", true), ("id", "idle id", true), (".voip", ".voip-ptt", false),
        ])
    func wholeWords(_ name: String, _ text: String, _ isThere: Bool) {
        #expect(Self.has(name, in: text) == isThere)
    }

    @Test("Descriptions say how long a string may be", arguments: topics.flatMap(\.schemas))
    func lengths(_ schema: String) throws {
        for (name, property) in try Self.properties(of: schema) {
            let members = property.dictionary ?? [:]
            let description = members["description"]?.text ?? ""
            var limits = [members["maxLength"]?.number.map { Int($0) }].compactMap(\.self)
            for pattern in [members["pattern"], members["items"]?["pattern"]] {
                // The largest count of a pattern such as ^[A-Z]{1,200}$, where it is the only one.
                let counts = (pattern?.text ?? "").matches(of: /\{1,(\d+)\}/).compactMap { Int($0.output.1) }
                limits += counts.count == 1 ? counts : []
            }
            for limit in limits {
                let written = limit < 1000 ? "\(limit)" : "\(limit / 1000),\(String(limit % 1000 + 1000).dropFirst())"
                #expect(description.contains(written), "\(schema), \(name): \(limit)")
            }
        }
    }

    @Test(
        "Types, ranges and values are those of the schema",
        arguments: [
            ("index", "integer from 0 to 999"), ("attempt", "integer from 1"), ("redelivered", "boolean"),
            ("status", "integer from 100 to 999 or null"), ("environment", "production, development or null"),
            ("duplicate", "suppressed; may be absent"), ("channels", "array of strings or null; may be absent"),
            ("apns_request_id", "UUID; may be absent"),
        ])
    func results(_ name: String, _ values: String) {
        let properties = ContractSchema(PackageResources.result_schema_json).properties
        #expect(properties.first { $0.name == name }?.values == values)
    }

    @Test(
        "Of a job, null is not named, and numbers may be text",
        arguments: [
            ("device_tokens", "array of 1 to 1000 strings"), ("priority", "1, 5 or 10"), ("payload", "object"),
            ("deadline", "time"), ("expiration", "0 or time"),
            ("storage_policy", "0, 1, none or most_recent"), ("apns-priority", "1, 5 or 10"),
            ("x-apns-deadline", "time"), ("not_before", "time"), ("x-apns-not-before", "time"),
        ])
    func jobs(_ name: String, _ values: String) {
        let properties = [PackageResources.job_schema_json, PackageResources.raw_job_headers_schema_json]
            .flatMap { ContractSchema($0, nullIsAbsence: true).properties }
        #expect(properties.first { $0.name == name }?.values == values)
    }

    @Test("Every outcome and action is explained")
    func words() throws {
        let text = try Executable.run(["help", "result"]).text
        let words = Outcome.allCases.map(\.rawValue) + Action.allCases.map(\.rawValue)
        #expect(words.filter { !text.contains("\n  \($0)\n") && !text.contains("\n  \($0): ") } == [])
    }

    @Test(
        "Examples stand in the topics as they were written",
        arguments: [
            ("job", JobHelp.example), ("result", ResultHelp.example), ("dead-letter", DeadLetterHelp.example),
        ])
    func unbrokenExamples(_ topic: String, _ example: String) throws {
        let indented = example.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
        #expect(try Executable.run(["help", topic]).text.contains(indented))
    }

    @Test("Examples obey the schemas")
    func examples() throws {
        let check = ContractCheck()
        check.note(.job, json: Array(JobHelp.example.utf8), about: "help job")
        check.note(.result, json: Array(ResultHelp.example.utf8), about: "help result")
        check.note(.deadLetterHeaders, json: Array(DeadLetterHelp.example.utf8), about: "help dead-letter")
        #expect(try check.problems() == [])
    }

    /// Whether a text has a name as a whole word.
    private static func has(_ name: String, in text: String) -> Bool {
        func isPart(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" } ?? false
        }
        return text.ranges(of: name).contains { range in
            let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
            return !isPart(before) && !isPart(text[range.upperBound...].first)
        }
    }

    /// Text with one space between words, however it was broken into lines.
    private static func unbroken(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    /// The properties of a schema of `config/contract`, as the file has them.
    private static func properties(of schema: String) throws -> [String: JSON] {
        let path = "\(PythonEnvironment.repository)/config/contract/\(schema).schema.json"
        let tree = try JSON(reading: Array(Data(contentsOf: URL(filePath: path))))
        let properties = try #require(tree.dictionary?["properties"]?.dictionary)
        try #require(!properties.isEmpty)
        return properties
    }

    /// What stands between back quotes in the first column of a section's tables.
    private static func names(page: String, section: String) throws -> [String] {
        let path = "\(PythonEnvironment.repository)/Sources/martlet/Documentation.docc/\(page).md"
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let body = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("\(section)\n") }, "\(section)")
        return body.split(separator: "\n").flatMap { line -> [String] in
            let cells = line.trimmingPrefix(while: { $0 == " " })
            guard cells.hasPrefix("|"), let cell = cells.dropFirst().split(separator: "|").first else { return [] }
            // What is quoted stands at every second place.
            return cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }
}
