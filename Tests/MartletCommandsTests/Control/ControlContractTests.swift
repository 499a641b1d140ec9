import PushWorker
import TestSupport
import Testing

@Suite("The schema of commands to all workers", .timeLimit(.minutes(2)))
struct ControlContractTests {
    /// A command's JSON from some of its members, with those that all have.
    private static func json(_ members: String) -> [UInt8] {
        let usual = #""type":"martlet.control","version":1,"id":"c-1","author":"anna@ops1","issued_at":1700000000"#
        return Array("{\(usual),\(members)}".utf8)
    }

    static let accepted = [
        #""action":"pause","route":"shop""#, #""action":"resume","route":"shop","campaign":null"#,
        #""action":"rate","route":"shop","per_second":0.5,"until":253402300799999"#,
        #""action":"pause","route":"shop","until":"2030-01-01T00:00:00Z""#,
        #""action":"pause","route":"shop","until":1893499200"#,
        #""action":"rate","route":"shop","per_second":null"#, #""action":"rate","route":"shop","per_second":1000000"#,
        #""action":"rate","route":"shop","per_second":0.001"#,
        #""action":"trust","route":"shop","reason":"looked at it","dead_letters":false"#,
        #""action":"pause","campaign":"campaign-7/","until":null,"reason":null"#,
        #""action":"cancel","campaign":"c","dead_letters":true,"later":{"versions":["may","say"]}"#,
        #""action":"resume","campaign":"c","reason":"""#, #""action":"resume","campaign":"c","until":1893499200"#,
    ]

    static let refused = [
        #""action":"pause""#, #""action":"pause","route":null"#, #""action":"pause","route":"a","campaign":"b""#,
        #""action":"pause","route":"""#, #""action":"pause","campaign":"""#, #""action":"pause","route":7"#,
        #""action":"stop","route":"shop""#, #""route":"shop""#, #""action":"cancel","route":"shop""#,
        #""action":"trust","campaign":"c""#, #""action":"rate","campaign":"c","per_second":5"#,
        #""action":"rate","route":"shop","per_second":0"#, #""action":"rate","route":"shop","per_second":0.0009"#,
        #""action":"rate","route":"shop","per_second":1000001"#,
        #""action":"rate","route":"shop","per_second":"5""#, #""action":"pause","route":"shop","per_second":5"#,
        #""action":"pause","campaign":"c","dead_letters":true"#, #""action":"pause","route":"shop","until":-1"#,
        #""action":"pause","route":"shop","until":253402300800000"#,
        #""action":"pause","route":"shop","until":17000000"#, #""action":"pause","route":"shop","until":"tomorrow""#,
        #""action":"pause","route":"\#(String(repeating: "r", count: 513))""#,
        #""action":"pause","route":"shop","reason":"\#(String(repeating: "r", count: 513))""#,
    ]

    /// Whole commands that lack something, or are of another kind.
    static let foreign = [
        "{}", #"{"type":"martlet.control","version":1,"action":"pause","route":"shop"}"#,
        #"{"type":"martlet.fleet","version":1,"id":"c","author":"a","issued_at":1700000000000,"action":"pause","route":"shop"}"#,
        #"{"type":"martlet.control","version":2,"id":"c","author":"a","issued_at":1700000000000,"action":"pause","route":"s"}"#,
        #"{"type":"martlet.control","version":1,"id":"","author":"a","issued_at":1700000000000,"action":"pause","route":"s"}"#,
        #"{"type":"martlet.control","version":1,"id":"c","author":"","issued_at":1700000000000,"action":"pause","route":"s"}"#,
        #"{"type":"martlet.control","version":1,"id":"c","author":"a","issued_at":5,"action":"pause","route":"s"}"#,
    ]

    @Test("commands that workers read obey the schema, and so does all that they write")
    func obeys() throws {
        let check = ContractCheck()
        for members in Self.accepted {
            let command = try #require(ControlCommand(parsing: Self.json(members)), "\(members)")
            check.note(.control, json: Self.json(members), about: members)
            check.note(.control, json: command.json, about: "written again: \(members)")
            #expect(ControlCommand(parsing: command.json) == command)
        }
        #expect(try check.problems() == [])
    }

    @Test("what workers do not read breaks the schema")
    func breaks() throws {
        let check = ContractCheck()
        let bodies = Self.refused.map(Self.json) + Self.foreign.map { Array($0.utf8) }
        for (index, body) in bodies.enumerated() {
            #expect(ControlCommand(parsing: body) == nil, "\(String(decoding: body, as: UTF8.self))")
            check.note(.control, json: body, about: "row \(index)")
        }
        let problems = try check.problems()
        let missed = bodies.indices.filter { index in !problems.contains { $0.hasPrefix("control, row \(index): ") } }
        #expect(missed.map { String(decoding: bodies[$0], as: UTF8.self) } == [])
    }
}
