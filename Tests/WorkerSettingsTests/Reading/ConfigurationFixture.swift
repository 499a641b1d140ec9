import Foundation

@testable import WorkerSettings

/// A directory of its own for one test, with the files a configuration names.
struct ConfigurationFixture {
    let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try write("key.p8", "key")
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let path = "\(directory)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Loads a file of this text.
    func load(
        _ yaml: String, _ environment: [String: String] = [:]
    ) throws -> Result<WorkerConfiguration, ConfigurationErrors> {
        let path = try write("martlet.yaml", yaml)
        return ConfigurationLoader.load(file: path, environment: environment, instanceName: { "made-up" })
    }

    /// The errors of a file of this text, each with the directory cut off.
    func errors(_ yaml: String, _ environment: [String: String] = [:]) throws -> [String] {
        switch try load(yaml, environment) {
        case .success: []
        case .failure(let errors):
            errors.all.map { $0.description.replacingOccurrences(of: "\(directory)/", with: "") }
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// The least that is a configuration; tests put their own lines before it.
let minimalConfiguration = """
    credentials:
      - { name: k, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
    routes:
      - { name: r, environment: production, topics: [com.example.app], credential: k }

    """
