import PushModel
import Text
import Topology

extension TopologyDrift {
    /// Prints the difference as data.
    ///
    /// - Parameters:
    ///   - state: `mended` or `remains` after `apply`; nil where nothing was tried.
    ///   - format: How to print it.
    ///   - admin: Writes the command lines that mend it.
    func print(_ state: String?, _ format: OutputFormat, _ admin: AdminCommands) {
        switch format {
        case .text:
            let words = [state, kind.rawValue.padded(to: 9), object, detail.isEmpty ? nil : "(\(detail))"]
            Console.data(words.compactMap(\.self).joined(separator: "  "))
            guard state != "mended" else { return }
            if let trust { Console.data("           to trust it with every app: \(trust)") }
            commands(admin).forEach { Console.data("           \($0)") }
        case .json:
            let one = remedies.isEmpty ? nil : admin.one(remedies)
            let command = one.map { admin.two(remedies) ?? $0 }
            Console.data(
                JSON.object([
                    ("state", .optional(state)), ("kind", .text(kind.rawValue)), ("object", .text(object)),
                    ("detail", .text(detail)), ("command", .optional(command)),
                    ("command_v1", .optional(one)), ("jobs_from", .optional(exchange)),
                ]).bytes)
        }
    }

    /// The line of a configuration that trusts the way; nil where that does not help.
    private var trust: String? { exchange.map { "jobs: { from: [\(JSONEscaping.quoted($0))] }" } }

    /// The command lines that mend it: one line where it is the same for both versions of `rabbitmqadmin`, else one for
    /// each version that has one; none for a queue that is in use.
    ///
    /// - Parameter admin: Writes the command lines.
    func commands(_ admin: AdminCommands) -> [String] {
        guard !remedies.isEmpty else { return [] }
        let (one, two) = (admin.one(remedies), admin.two(remedies))
        if one == two { return [one] }
        return (two.map { ["v2  \($0)"] } ?? []) + ["v1  \(one)"]
    }

    /// A hint about the command lines of some differences; nil where none of them is for `rabbitmqadmin`.
    ///
    /// - Parameters:
    ///   - rows: The differences.
    ///   - admin: Writes the command lines.
    static func hint(_ rows: [TopologyDrift], _ admin: AdminCommands) -> String? {
        guard rows.contains(where: { $0.commands(admin).contains { $0.contains("rabbitmqadmin") } }) else { return nil }
        return "v2 is for rabbitmqadmin 2, v1 for rabbitmqadmin 1; put the password into "
            + "\(AdminCommands.passwordVariable). martlet topology apply does all that needs no deleting."
    }
}
