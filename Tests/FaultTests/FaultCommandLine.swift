import Foundation
import PushWorker

/// What a worker's log says about a command.
struct FaultCommandLine: Decodable, Equatable, Sendable {
    /// What is asked for.
    var action: String
    /// Who asks.
    var author: String
    /// Why.
    var reason: String?

    /// What a log has to say about a command.
    init(_ command: ControlCommand) {
        (action, author, reason) = (command.action.rawValue, command.author, command.reason)
    }

    private static let message = "an operator asks all workers for something"

    /// How many commands a worker has told of since it had read the stream.
    static func count(of worker: FaultWorker) -> Int { worker.logLines(with: message) }

    /// These commands, in the order in which it told of them.
    static func all(of worker: FaultWorker) -> [FaultCommandLine] {
        worker.log.split(separator: "\n").filter { $0.contains(message) }
            .compactMap { try? JSONDecoder().decode(Self.self, from: Data($0.utf8)) }
    }
}
