import Foundation
import PushModel
import TestSupport
import Testing
import Topology
import Yams

@Suite("The AsyncAPI document", .timeLimit(.minutes(1)))
struct AsyncAPITests {
    private typealias Object = [String: Any]

    private static let directory = "\(PythonEnvironment.repository)/config/contract"

    /// A file of the contract as a tree; JSON is YAML, too.
    private static func tree(_ file: String) throws -> Object {
        let text = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? Object, "\(file)")
    }

    /// All references below a value.
    private static func references(_ value: Any) -> [String] {
        if let list = value as? [Any] { return list.flatMap(references) }
        guard let object = value as? Object else { return [] }
        return object.flatMap { key, value in
            if key == "$ref", let text = value as? String { return [text] }
            return references(value)
        }
    }

    /// What a reference of a file leads to; nil where that is nothing.
    private static func resolve(_ reference: String, from file: String) -> Any? {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var value: Any? = try? tree(parts[0].isEmpty ? file : parts[0])
        for step in (parts.count > 1 ? parts[1] : "").split(separator: "/") {
            value = (value as? Object)?[String(step)]
        }
        return value
    }

    @Test("each reference of the document and of the schemas leads somewhere")
    func references() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.directory)
        var count = 0
        for file in files {
            let references = Self.references(try Self.tree(file))
            count += references.count
            #expect(references.filter { Self.resolve($0, from: file) == nil } == [], "\(file)")
        }
        #expect(count > 30)
        #expect(Self.resolve("#/components/messages/None", from: "asyncapi.yaml") == nil)
        #expect(Self.resolve("none.schema.json", from: "asyncapi.yaml") == nil)
    }

    @Test("a schema of another format than AsyncAPI's own says which")
    func formats() throws {
        let components = try #require(try Self.tree("asyncapi.yaml")["components"] as? Object)
        let schemas = try #require(components["schemas"] as? Object)
        let files = schemas.values.compactMap { Self.references($0).first }
        for (name, schema) in schemas {
            let format = (schema as? Object)?["schemaFormat"] as? String
            #expect(format == "application/schema+json;version=draft-2020-12", "\(name)")
        }
        let all = try FileManager.default.contentsOfDirectory(atPath: Self.directory)
            .filter { $0.hasSuffix(".schema.json") }
        // A line of a file is not a message.
        #expect(Set(files) == Set(all).subtracting(["job-line.schema.json"]))
        let messages = try #require(components["messages"] as? Object)
        #expect(Self.references(messages).allSatisfy { $0.hasPrefix("#/components/schemas/") })
    }

    @Test("exchanges are those that clients use, of the same kinds, and every name is one of the broker's objects")
    func names() throws {
        let topology = BrokerTopology(routes: [], tiers: [])
        let kinds = Dictionary(uniqueKeysWithValues: topology.exchanges.map { ($0.name, $0.kind.rawValue) })
        let channels = try #require(try Self.tree("asyncapi.yaml")["channels"] as? [String: Object])
        var used: Set<String> = []
        for (name, channel) in channels {
            let amqp = try #require((channel["bindings"] as? Object)?["amqp"] as? Object, "\(name)")
            let exchange = try #require(amqp["exchange"] as? Object, "\(name)")
            let written = try #require(exchange["name"] as? String)
            used.insert(written)
            #expect(exchange["type"] as? String == kinds[written], "\(name)")
            #expect(exchange["durable"] as? Bool == true, "\(name)")
        }
        #expect(
            used == [
                TopologyNames.jobs, TopologyNames.results, TopologyNames.replies, TopologyNames.dead,
                TopologyNames.control,
            ])
        let text = try String(contentsOfFile: "\(Self.directory)/asyncapi.yaml", encoding: .utf8)
        let known = Set(topology.exchanges.map(\.name) + topology.queues.map(\.name))
            .union(["apns.result.v1", "apns.results.v1"])
        let named = Set(text.matches(of: /\bapns\.[a-z0-9.]*[a-z0-9]/).map { String($0.output) })
            .subtracting(["apns.payload"])
        #expect(named.count > 5)
        #expect(named.subtracting(known) == [])
    }

    @Test("outcomes are those that results have; all but accepted have dead letters")
    func outcomes() throws {
        let channels = try #require(try Self.tree("asyncapi.yaml")["channels"] as? [String: Object])
        func listed(_ channel: String) throws -> [String] {
            let parameters = try #require(channels[channel]?["parameters"] as? Object)
            return try #require((parameters["outcome"] as? Object)?["enum"] as? [String])
        }
        let all = Outcome.allCases.map(\.rawValue)
        #expect(try Set(listed("results")) == Set(all))
        #expect(try Set(listed("deadLetters")) == Set(all).subtracting(["accepted"]))
    }
}
