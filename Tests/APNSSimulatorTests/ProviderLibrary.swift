import Foundation
import LocalStack
import TestSupport

@testable import APNSSimulator

/// Provider libraries from the package registry, run as they are by scripts in `Fixtures`.
enum ProviderLibrary: String, CaseIterable {
    case aioapns
    case pyapnsClient = "pyapns_client"

    struct Failure: Error {
        var message: String
    }

    /// What one run of a script is to do.
    struct Order: Encodable {
        var port: Int
        /// The certificate to trust; nil for what the system trusts.
        var authority: String?
        var keyFile = ""
        var keyID = "ABC1234567"
        var teamID = "DEF7654321"
        /// The client's certificate with its key, instead of a provider token.
        var certificateFile: String?
        var topic = "com.example.app"
        /// Pushes that wait for each other.
        var oneByOne: [Push] = []
        /// Pushes after those, all at once.
        var together: [Push] = []
    }

    /// One push in the words of the scripts.
    struct Push: Encodable {
        var token: String
        var id = UUID().uuidString.lowercased()
        var type = "alert"
        var text = "hello"
        var priority: Int?
        var collapseID: String?
        /// Seconds from now until it expires.
        var lifetime: Int?

        init(_ token: String) { self.token = token }
    }

    /// What a library made of an answer.
    struct Answer: Decodable, Equatable {
        var id: String
        /// `accepted`, or the library's own word for what went wrong.
        var outcome: String
        var status: Int?
        var timestamp: Int64?
    }

    /// Runs the library's script; fails where it, its Python or the library is missing.
    func run(_ order: Order) async throws -> [Answer] {
        guard let resources = Bundle.module.resourceURL else { throw Failure(message: "the tests have no resources") }
        let script = resources.appending(path: "Fixtures/push_\(rawValue).py").path
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let input = [UInt8](try encoder.encode(order))
        // On a thread of its own: devices and the admin API need the pool's.
        let outcome = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try PythonEnvironment.run(script, input: input, timeout: .seconds(45)) })
            }
        }
        guard outcome.status == 0 else { throw Failure(message: "\(rawValue): \(outcome.errorText)") }
        return try outcome.text.split(separator: "\n").map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }
}
