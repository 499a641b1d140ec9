import TLS
import Text

/// Turns the content of a device token into the opaque digits a provider sees, and back.
///
/// A token is salt (8 bytes), mark (4 bytes), sealed content and its proof (16 bytes). The length depends on the topic
/// and the salt, so that nobody relies on a fixed length. The mark is a keyed hash of the salt. It shows without
/// cryptography that a token made up by a test is not ours. A token of the classic size costs only a comparison of
/// lengths.
///
/// See Apple, "Registering your app with APNs": tokens are opaque, of variable length and for one app on one device
/// (<https://developer.apple.com/documentation/usernotifications/registering-your-app-with-apns>).
struct DeviceTokenCodec: Sendable {
    /// The content of a device token that the simulator issued. Only the simulator can read or make such a token.
    struct Content: Equatable, Sendable {
        /// The device.
        var device: DeviceID
        /// The environment it is for. The other environment answers it `BadDeviceToken`.
        var environment: ServiceEnvironment
        /// The number of the token among those of the device for the topic, from 1. A newer token ends the older ones.
        var generation: UInt32
        /// Seconds since 1970 at which it was issued.
        var issuedAt: Int64
        /// The topic it takes pushes for: the bundle identifier, with the suffix of its kind.
        var topic: String
    }

    /// How many bytes of salt a token begins with.
    static let saltLength = 8
    /// The longest topic of a token, in bytes. With it, no token exceeds ``PushRules/defaultTokenLengths``.
    static let topicLimit = 180

    private static let headLength = SealingKey.nonceLength
    private static let fixedContent = 31
    /// The shortest token in hexadecimal digits: longer than the classic 64.
    private static let shortest = 2 * (headLength + fixedContent + SealingKey.tagLength)
    private static let version: UInt8 = 1

    private let key: SealingKey
    private let markSeed: UInt64

    /// Takes the key of all tokens.
    ///
    /// - Parameter key: The simulator's token key.
    init(key: SealingKey) {
        self.key = key
        markSeed = StableHash.of(key.bytes.span, seed: 0x6D61_726B)
    }

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - content: The contents; the topic has at most ``topicLimit`` bytes.
    ///   - salt: Eight bytes. The same content and salt give the same token. A salt must not be used for other content.
    /// - Returns: Hexadecimal digits.
    /// - Throws: ``SimulatorError`` where sealing fails.
    func token(for content: Content, salt: [UInt8]) throws(SimulatorError) -> String {
        precondition(salt.count == Self.saltLength, "a salt has eight bytes")
        var text: [UInt8] = [Self.version, content.environment == .production ? 1 : 0]
        Self.append(content.device.value.high, to: &text)
        Self.append(content.device.value.low, to: &text)
        Self.append(UInt64(content.generation) << 32, count: 4, to: &text)
        Self.append(UInt64(bitPattern: content.issuedAt), to: &text)
        text.append(UInt8(clamping: content.topic.utf8.count))
        text += content.topic.utf8
        text += [UInt8](repeating: 0, count: Int(salt[0] & 15))
        let nonce = salt + mark(of: salt)
        do {
            return HexText.text(nonce + (try key.seal(text, nonce: nonce)))
        } catch {
            throw SimulatorError(.credential, "cannot seal a device token: \(error)")
        }
    }

    /// Makes the newest token of a registration.
    ///
    /// - Parameters:
    ///   - registration: The registration.
    ///   - device: The device that is registered.
    /// - Returns: Hexadecimal digits.
    /// - Throws: ``SimulatorError`` where sealing fails.
    func token(of registration: DeviceRegistry.Registration, device: DeviceID) throws(SimulatorError) -> String {
        try token(
            for: Content(
                device: device, environment: registration.environment, generation: registration.generation,
                issuedAt: registration.issuedAt, topic: registration.topic),
            salt: registration.salt)
    }

    /// Reads a token.
    ///
    /// - Parameter digits: Hexadecimal digits as a provider sent them.
    /// - Returns: The contents; nil for a token that was not made with this key, or was changed.
    func content(of digits: [UInt8]) -> Content? {
        guard digits.count >= Self.shortest, digits.count.isMultiple(of: 2) else { return nil }
        guard let head = HexText.bytes(digits[..<(2 * Self.headLength)]),
            head[Self.saltLength...].elementsEqual(mark(of: Array(head[..<Self.saltLength]))),
            let sealed = HexText.bytes(digits[(2 * Self.headLength)...]),
            let text = key.open(sealed[...], nonce: head)
        else { return nil }
        return Self.read(text)
    }

    private func mark(of salt: [UInt8]) -> [UInt8] {
        let hash = StableHash.of(salt.span, seed: markSeed)
        return (0..<4).map { UInt8(truncatingIfNeeded: (hash ^ hash >> 32) >> UInt64(8 * $0)) }
    }

    private static func read(_ text: [UInt8]) -> Content? {
        guard text.count >= fixedContent, text[0] == version, text[1] <= 1 else { return nil }
        let length = Int(text[30])
        guard text.count >= fixedContent + length,
            let topic = String(validating: text[fixedContent..<(fixedContent + length)], as: UTF8.self)
        else { return nil }
        return Content(
            device: DeviceID(UUIDBytes(high: number(text[2..<10]), low: number(text[10..<18]))),
            environment: text[1] == 1 ? .production : .development,
            generation: UInt32(truncatingIfNeeded: number(text[18..<22])),
            issuedAt: Int64(bitPattern: number(text[22..<30])), topic: topic)
    }

    private static func append(_ value: UInt64, count: Int = 8, to text: inout [UInt8]) {
        for index in 0..<count { text.append(UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * index))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
