/// Device tokens of the tests; the simulator accepts both.
enum Tokens {
    /// Of jobs in order.
    static let good = Array(String(repeating: "a1b2c3d4", count: 8).utf8)
    /// Of jobs that must never reach APNs.
    static let bad = Array(String(repeating: "5ec2e7ab", count: 8).utf8)
}
