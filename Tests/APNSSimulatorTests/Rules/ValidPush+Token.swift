@testable import APNSSimulator

extension ValidPush {
    /// A valid push to a token.
    static func push(to token: String, topic: String = "com.example.app") -> ValidPush {
        ValidPush(token: Array(token.utf8), topic: topic, type: .alert, priority: 10)
    }
}
