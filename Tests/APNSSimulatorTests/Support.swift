import Testing

@testable import APNSSimulator

/// A valid push to a token.
func push(to token: String, topic: String = "com.example.app") -> ValidPush {
    ValidPush(token: Array(token.utf8), topic: topic, type: .alert, priority: 10)
}

/// A device token of 64 digits that begins with the given ones.
func token(_ prefix: String) -> String { prefix + String(repeating: "0", count: 64 - prefix.utf8.count) }
