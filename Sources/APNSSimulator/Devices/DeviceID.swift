/// The name of a device towards the simulator: a random UUID, the common name of the device's certificate.
package struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID.
    package var value: MessageID

    /// Names a device.
    ///
    /// - Parameter value: The UUID.
    package init(_ value: MessageID) { self.value = value }

    /// Reads the canonical text.
    ///
    /// - Parameter text: 8-4-4-4-12 hexadecimal digits.
    package init?(_ text: String) {
        guard let value = MessageID(parsing: Array(text.utf8)) else { return nil }
        self.value = value
    }

    /// Makes a new name.
    ///
    /// - Returns: A random one.
    package static func random() -> DeviceID { DeviceID(.random()) }

    /// Reads the subject of a device's certificate.
    ///
    /// - Parameter subject: In the form of RFC 2253, `CN=…`.
    init?(certificateSubject subject: String) {
        guard let field = subject.split(separator: ",").first(where: { $0.hasPrefix("CN=") }) else { return nil }
        self.init(String(field.dropFirst(3)))
    }

    /// The canonical lower-case text.
    package var description: String { value.description }
}

extension MessageID: Codable {
    /// Reads the canonical text.
    ///
    /// - Parameter decoder: Holds a string.
    /// - Throws: `DecodingError` where it is not a UUID.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = MessageID(parsing: Array(text.utf8)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = value
    }

    /// Writes the canonical text.
    ///
    /// - Parameter encoder: Receives a string.
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
