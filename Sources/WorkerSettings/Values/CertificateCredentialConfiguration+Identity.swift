package import TLS

extension CertificateCredentialConfiguration {
    /// Reads the certificate with its key.
    ///
    /// - Returns: The identity.
    /// - Throws: `TLSError` if a file cannot be read or used. The message names the file, but not a password file's
    ///   path.
    package func identity() throws(TLSError) -> CertificateIdentity {
        switch source {
        case .pem(let certificateFile, let keyFile):
            return try CertificateIdentity(certificateFile: certificateFile, keyFile: keyFile)
        case .pkcs12(let file, let passwordFile):
            return try CertificateIdentity(pkcs12File: file, password: try passwordFile.map(Self.password))
        }
    }

    /// The first line of a password file. Editors end lines, and passwords have no line ends.
    private static func password(_ file: String) throws(TLSError) -> [UInt8] {
        do throws(TextFile.Failure) {
            let bytes = try TextFile.textBytes(at: file)
            return Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        } catch {
            // The path is not quoted: by mistake, it may be the password itself.
            throw TLSError(unreadable: "the file with its password", because: error.reason)
        }
    }
}
