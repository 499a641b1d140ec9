import Foundation
import Testing

/// The files beside the tests.
enum Fixture {
    static func directory(_ name: String) throws -> URL {
        try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures").appendingPathComponent(name)
    }

    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory(folder).path).filter { $0.hasSuffix(".json") }
            .sorted()
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let name = path.hasSuffix(".json") ? path : path + ".json"
        return try [UInt8](Data(contentsOf: directory(name)))
    }

    static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }
}
