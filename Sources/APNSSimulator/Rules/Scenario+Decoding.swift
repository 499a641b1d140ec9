import FoundationEssentials
import Text
import Yams

extension Scenario {
    /// The largest scenario file in bytes.
    static let sizeLimit = 1 << 20

    /// Reads a scenario file.
    ///
    /// - Parameter file: The path of a YAML file.
    /// - Throws: ``SimulatorError`` that names every mistake as `file:line:column: …`.
    package init(file: String) throws(SimulatorError) {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw SimulatorError(.file, "cannot read the scenario file \(file)")
        }
        guard data.count <= Self.sizeLimit else {
            throw SimulatorError(.scenario, "\(file): larger than \(Self.sizeLimit) bytes")
        }
        guard let mark = ByteOrderMark.length(before: [UInt8](data).span) else {
            throw SimulatorError(.scenario, "\(file): \(ByteOrderMark.utf16)")
        }
        guard let text = String(validating: data.dropFirst(mark), as: UTF8.self) else {
            throw SimulatorError(.scenario, "\(file): not UTF-8 text")
        }
        try self.init(yaml: text, name: file)
    }

    /// Reads the text of a scenario file; `config/scenarios/` shows the form.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - name: What to call it in messages.
    /// - Throws: ``SimulatorError`` that names every mistake as `name:line:column: …`.
    package init(yaml: String, name: String) throws(SimulatorError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw SimulatorError(.scenario, "\(name):\(Self.place(of: error))")
        }
        self.init()
        guard let root else { return }
        var decoder = ScenarioDecoder(name: name)
        decoder.read(root, into: &self)
        guard decoder.mistakes.isEmpty else {
            throw SimulatorError(.scenario, decoder.mistakes.joined(separator: "\n"))
        }
    }

    private static func place(of error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "\(mark.line):\(mark.column): \(problem)"
        case .duplicatedKeysInMapping(let keys, let context):
            "\(context.mark.line):\(context.mark.column): written twice: \(keys.sorted().joined(separator: ", "))"
        default:
            "1:1: not YAML"
        }
    }
}
