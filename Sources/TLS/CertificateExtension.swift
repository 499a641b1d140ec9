/// A certificate extension that OpenSSL has no name for, such as those of Apple's push certificates.
package struct CertificateExtension: Hashable, Sendable {
    /// The object identifier in dotted form.
    package var identifier: String
    /// The DER bytes inside.
    package var content: [UInt8]

    /// Describes an extension.
    ///
    /// - Parameters:
    ///   - identifier: The object identifier in dotted form.
    ///   - content: The DER bytes inside.
    package init(_ identifier: String, content: [UInt8]) {
        self.identifier = identifier
        self.content = content
    }
}
