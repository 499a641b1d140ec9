import PushModel
package import TLS
package import Topology

/// A user of the broker with a new password. The broker gets only its hash, so the password is known only here.
package struct BrokerAccount {
    /// The user with the hash.
    package let user: BrokerUser
    /// The password: 32 letters and digits, 190 random bits.
    package let password: String

    /// Makes up a password for a role.
    ///
    /// - Parameter role: The role, which decides what the user may do.
    /// - Throws: `TLSError` when OpenSSL cannot hash it.
    package static func new(_ role: BrokerRole) throws(TLSError) -> BrokerAccount {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        let password = (0..<32).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
        let salt = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let digest = try SHA256.digest(salt + password)
        let hash = BrokerUser.rabbitPasswordHash(salt: salt, password: password) { _ in digest }
        return BrokerAccount(
            user: BrokerUser(name: role.userName, role: role, passwordHash: hash),
            password: String(decoding: password, as: UTF8.self))
    }
}
