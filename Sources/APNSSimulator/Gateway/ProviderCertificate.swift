/// A provider's certificate with its key.
package struct ProviderCertificate: Sendable {
    /// The certificate in PEM.
    package var certificatePEM: [UInt8]
    /// Its private key in PEM: a secret.
    package var keyPEM: [UInt8]
    /// Its serial number in hexadecimal digits, by which it is revoked.
    package var serialNumber: String
}
