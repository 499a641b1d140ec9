/// A client certificate with its key.
///
/// See Apple, "Establishing a certificate-based connection":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns>
package struct CertificateCredentialConfiguration: Sendable, Equatable {
    /// Where certificate and key are. The worker may start while the files are unreadable.
    package enum Source: Sendable, Equatable {
        /// A PKCS#12 file, and the file with its password; nil for none.
        case pkcs12(file: String, passwordFile: String?)
        /// Two PEM files, which may be the same.
        case pem(certificateFile: String, keyFile: String)
    }

    /// The name that routes use.
    package var name: String
    /// Where certificate and key are.
    package var source: Source
}
