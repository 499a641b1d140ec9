internal import COpenSSL
internal import Glibc

/// A certificate authority of one's own, for the simulator and for tests: P-256 keys, SHA-256.
package struct CertificateAuthority: Sendable {
    private let certificate: Certificate
    private let key: Key

    /// Makes a new authority, valid for ten years.
    package static func create(commonName: String) throws(TLSError) -> CertificateAuthority {
        guard let key = copenssl_generate_p256().map(Key.init(takingOwnership:)) else { throw .last(.library, "key") }
        let certificate = try sign(
            Request(
                commonName: commonName, key: key, days: 3_650, notBeforeOffset: 0,
                extensions: [
                    (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                    (NID_subject_key_identifier, "hash"),
                ]),
            issuer: nil, issuerKey: key)
        return CertificateAuthority(certificate: certificate, key: key)
    }

    /// Reads an authority made before.
    ///
    /// - Throws: `TLSError` when certificate and key do not belong together.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        let identity = try CertificateIdentity(certificatePEM: certificatePEM, keyPEM: keyPEM)
        self.init(certificate: identity.chain[0], key: identity.key)
    }

    private init(certificate: Certificate, key: Key) {
        self.certificate = certificate
        self.key = key
    }

    /// The authority's certificate: what clients must trust.
    package var certificatePEM: [UInt8] { certificate.pem }
    /// The authority's key. Secret.
    package var keyPEM: [UInt8] { key.privatePEM }

    /// Issues a certificate with a new key.
    ///
    /// - Parameters:
    ///   - names: Host names and IP addresses the certificate is for.
    ///   - days: How long it is valid after its beginning.
    ///   - client: Whether it is for a client instead of a server.
    ///   - notBeforeOffset: Seconds from now to the beginning of its validity; negative for the past.
    package func issue(
        commonName: String, names: [String], days: Int, client: Bool = false, notBeforeOffset: Int = 0
    ) throws(TLSError) -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
        guard let leafKey = copenssl_generate_p256().map(Key.init(takingOwnership:)) else { throw .last(.library, "key") }
        var extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, client ? "clientAuth" : "serverAuth"),
        ]
        if !names.isEmpty {
            let alternatives = names.map { Self.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }
            extensions.append((NID_subject_alt_name, alternatives.joined(separator: ",")))
        }
        let leaf = try Self.sign(
            Request(
                commonName: commonName, key: leafKey, days: days, notBeforeOffset: notBeforeOffset,
                extensions: extensions),
            issuer: certificate, issuerKey: key)
        return (leaf.pem, leafKey.privatePEM)
    }

    private struct Request {
        var commonName: String
        var key: Key
        var days: Int
        var notBeforeOffset: Int
        var extensions: [(Int32, String)]
    }

    private static func isAddress(_ name: String) -> Bool {
        guard let octets = a2i_IPADDRESS(name) else {
            ERR_clear_error()
            return false
        }
        ASN1_OCTET_STRING_free(octets)
        return true
    }

    private static func sign(
        _ request: Request, issuer: Certificate?, issuerKey: Key
    ) throws(TLSError) -> Certificate {
        guard let pointer = X509_new() else { throw .last(.library, "X509_new") }
        let certificate = Certificate(takingOwnership: pointer)
        X509_set_version(pointer, 2)
        // 63 random bits: unique without keeping a counter (CA/Browser Forum baseline requirements, 7.1).
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), UInt64.random(in: 1...UInt64(Int64.max)))
        _ = copenssl_adjust_time(X509_getm_notBefore(pointer), request.notBeforeOffset)
        _ = copenssl_adjust_time(X509_getm_notAfter(pointer), request.notBeforeOffset + request.days * 86_400)
        X509_set_pubkey(pointer, request.key.pointer)
        let name = X509_get_subject_name(pointer)
        let text = Array(request.commonName.utf8)
        X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, Int32(text.count), -1, 0)
        X509_set_issuer_name(pointer, issuer.map { X509_get_subject_name($0.pointer) } ?? name)
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.pointer ?? pointer, pointer, nil, nil, 0)
        for (identifier, value) in request.extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
                throw .last(.library, "certificate extension")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(pointer, made, -1) == 1 else { throw .last(.library, "certificate extension") }
        }
        guard X509_sign(pointer, issuerKey.pointer, EVP_sha256()) > 0 else { throw .last(.library, "X509_sign") }
        return certificate
    }
}
