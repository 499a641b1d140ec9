import PushModel
import Topology

extension TopologyDrift {
    /// Prints the difference as data.
    /// - Parameters:
    ///   - state: What was done about it, if anything was tried.
    ///   - format: How to print it.
    func print(_ state: String?, _ format: OutputFormat) {
        switch format {
        case .text:
            let words = [state, kind.rawValue.padded(to: 9), object, detail.isEmpty ? nil : "(\(detail))"]
            Console.data(words.compactMap(\.self).joined(separator: "  "))
            if state != "mended" { Console.data("           \(command)") }
        case .json:
            Console.data(
                JSON.object([
                    ("state", .optional(state)), ("kind", .text(kind.rawValue)), ("object", .text(object)),
                    ("detail", .text(detail)), ("command", .text(command)),
                ]).bytes)
        }
    }
}
