import Foundation
import TestSupport
import Testing

@testable import PushModel

@Suite("The schemas of the contract", .timeLimit(.minutes(2)))
struct ContractSchemaTests {
    /// Jobs that are accepted although the schema refuses them, and why.
    private static let moreLenient = [
        // Its bad entries fail alone.
        "tokens-mixed.json"
    ]

    /// Jobs that a schema cannot refuse: it knows neither the message around the body nor bytes, 5.0 is an integer to it, and
    /// to Python's validator a pattern that ends with `$` matches before a line break at the end.
    private static let moreStrict: Set<String> = [
        "RoutingMismatch-environment.json", "RoutingMismatch-suffix.json", "RoutingMismatch-topic.json",
        "JobIdMismatch-other.json", "PayloadTooLarge-4097.json", "PayloadTooLarge-voip-5121.json",
        "BadCollapseId-65-bytes-33-characters.json", "BadDeviceToken-newline.json", "InvalidPushType-newline.json",
        "BadPriority-default-background-10.json",
        "BadType-priority-exponent.json", "BadType-priority-fraction.json",
    ]

    @Test("jobs that the worker accepts obey the schema")
    func accepted() throws {
        let check = ContractCheck()
        for name in try Fixture.names(in: "accepted") where !Self.moreLenient.contains(name) {
            for schema in [ContractCheck.Schema.job, .jobLine] {
                check.note(schema, json: try Fixture.bytes("accepted/" + name), about: name)
            }
        }
        #expect(try check.problems() == [])
    }

    @Test("jobs that the worker refuses for what is in their body break the schema")
    func refused() throws {
        let check = ContractCheck()
        var expected: Set<String> = []
        // What is no JSON, or no UTF-8, breaks every schema.
        let isJSON: (String) -> Bool = { !$0.hasPrefix("BadJSON-") && !$0.hasPrefix("BadEncoding-") }
        for name in try Fixture.names(in: "refused") where isJSON(name) && !Self.moreStrict.contains(name) {
            let bytes = try Fixture.bytes("refused/" + name)
            check.note(.job, json: bytes, about: name)
            expected.insert(name)
        }
        let problems = try check.problems()
        #expect(expected.count > 50)
        #expect(expected.filter { name in !problems.contains { $0.hasPrefix("job, \(name): ") } } == [])
    }

    @Test("a field that the schema lacks is a problem")
    func strictness() throws {
        let check = ContractCheck()
        check.note(
            .resultHeaders, json: Array(#"{"x-apns-outcome":"accepted","x-apns-attempt":1,"x-apns-new":1}"#.utf8),
            about: "new")
        #expect(try check.problems() == ["result-headers, new: x-apns-new: the schema lacks it"])
    }

    @Test("the schema of results has the fields that results have")
    func resultFields() throws {
        let file = URL(filePath: "\(PythonEnvironment.repository)/config/contract/result.schema.json")
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let properties = try #require(schema?["properties"] as? [String: Any])
        #expect(Set(properties.keys) == Set(ResultField.allCases.map(\.stringValue)))
        #expect(ResultField.allCases.allSatisfy { ResultField(stringValue: $0.stringValue) == $0 })
    }
}
