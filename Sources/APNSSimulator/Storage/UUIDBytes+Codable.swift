package import Text

// The form of UUIDs in the simulator's files.
extension UUIDBytes: Codable {
    /// Reads the canonical text.
    ///
    /// - Parameter decoder: Holds a string.
    /// - Throws: `DecodingError` where it is not a UUID.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = UUIDBytes.parse(try container.decode(String.self)) else {
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
