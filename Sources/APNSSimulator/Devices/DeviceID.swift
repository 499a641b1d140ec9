package import Text

/// The name of a device towards the simulator: a random UUID, the common name of the device's certificate.
package struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    /// The UUID.
    package var value: UUIDBytes

    /// Names a device.
    ///
    /// - Parameter value: The UUID.
    package init(_ value: UUIDBytes) { self.value = value }

    /// Reads the canonical text.
    ///
    /// - Parameter text: 8-4-4-4-12 hexadecimal digits.
    package init?(_ text: String) {
        guard let value = UUIDBytes.parse(text) else { return nil }
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
