/// What a certificate for APNs says about itself; nothing here is secret.
///
/// Apple, "Establishing a certificate-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns>
package struct CertificateFacts: Sendable, Equatable {
    /// A topic the certificate is for, and what kind of pushes it takes.
    package struct Topic: Sendable, Equatable {
        /// The topic as `apns-topic` spells it, its suffix included.
        package var name: String
        /// Apple's labels, such as `app`, `voip` or `complication`.
        package var kinds: [String]
    }

    /// The certificate's subject, RFC 2253 form.
    package var subject: String
    /// The serial number in hexadecimal, as `openssl x509 -serial` prints it.
    package var serialNumber: String
    /// The SHA-256 digest of the whole certificate, in hexadecimal.
    package var fingerprint: String
    /// The subject's user identifier, nil for none. In a certificate for one topic it is that topic.
    package var userID: String?
    /// The beginning of its validity, in seconds since 1970.
    package var notBefore: Int64
    /// The end of its validity, in seconds since 1970.
    package var notAfter: Int64
    /// Whether it says that it is for development (extension 1.2.840.113635.100.6.3.1).
    package var isForDevelopment: Bool
    /// Whether it says that it is for production (extension 1.2.840.113635.100.6.3.2).
    package var isForProduction: Bool
    /// The topics of its list (extension 1.2.840.113635.100.6.3.6), or its user identifier if it has no such list. The
    /// topics for VoIP that it names apart follow (extension 1.2.840.113635.100.6.3.4).
    package var topics: [Topic]

    /// Whether it names any environment. A certificate that names none does not exclude any.
    package var namesEnvironment: Bool { isForDevelopment || isForProduction }
}
