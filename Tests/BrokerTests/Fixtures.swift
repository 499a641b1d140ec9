import Foundation

/// The files beside the tests.
enum Fixtures {
    static func path(_ name: String) throws -> String {
        guard let url = Bundle.module.resourceURL else { throw RingFailure("the tests have no resources") }
        return url.appendingPathComponent("Fixtures").appendingPathComponent(name).path
    }

    static func json<Value: Decodable>(_ name: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(contentsOf: URL(fileURLWithPath: try path(name))))
    }
}
