import COpenSSL
import Glibc

/// A certificate authority for the simulator and for tests: P-256 keys, SHA-256 signatures, no revocation.
package struct CertificateAuthority: Sendable {
    /// How long an authority lasts, in days.
    private static let ownDays = 3650
    /// The longest common name that X.509 allows, in characters (RFC 5280, ub-common-name).
    private static let commonNameLimit = 64

    /// The authority's own certificate, which others trust.
    package let certificatePEM: [UInt8]
    /// The authority's private key: a secret.
    package let keyPEM: [UInt8]

    private let certificate: Certificate
    private let key: Key

    /// Makes a new authority.
    ///
    /// - Parameter commonName: The name, 1 to 64 characters.
    /// - Returns: The authority, valid for 3,650 days.
    /// - Throws: `TLSError` when the name is not possible.
    package static func create(commonName: String) throws(TLSError) -> CertificateAuthority {
        let key = try Key.generateP256()
        let draft = try CertificateDraft.start(commonName: try checked(commonName), key: key)
        try draft.setValidity(startingIn: 0, days: ownDays)
        try draft.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: nil)
        try draft.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: nil)
        try draft.add(NID_subject_key_identifier, "hash", issuer: nil)
        let certificate = try draft.sign(issuer: nil, key: key)
        return CertificateAuthority(
            certificatePEM: try certificate.pem, keyPEM: try key.privatePEM, certificate: certificate, key: key)
    }

    /// Reads an authority made before.
    ///
    /// - Parameters:
    ///   - certificatePEM: Its certificate.
    ///   - keyPEM: Its private key.
    /// - Throws: `TLSError` when a text is damaged, the two do not belong together, or it is not an authority.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        let certificate = try PEM.certificates(in: certificatePEM, from: "the authority's certificate")[0]
        let key = try PEM.privateKey(in: keyPEM, from: "the authority's key")
        guard X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            throw .fromQueue(.invalidKey, "the key is not the key of \(certificate.subject)")
        }
        guard X509_check_ca(certificate.pointer) == 1 else {
            throw TLSError(.invalidCertificate, "\(certificate.subject) is not a certificate authority")
        }
        self.init(certificatePEM: certificatePEM, keyPEM: keyPEM, certificate: certificate, key: key)
    }

    private init(certificatePEM: [UInt8], keyPEM: [UInt8], certificate: Certificate, key: Key) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
        self.certificate = certificate
        self.key = key
    }

    /// Issues a certificate with a new key.
    ///
    /// - Parameters:
    ///   - commonName: The subject's common name, 1 to 64 characters.
    ///   - names: The DNS names and IP addresses it is for.
    ///   - days: How many days it is valid.
    ///   - client: Whether it is for a client; otherwise it is for a server.
    ///   - notBeforeOffset: When its validity starts, in seconds from now; negative for the past.
    ///   - userID: The subject's user identifier, where Apple's push certificates carry the topic; nil for none.
    ///   - extensions: Further extensions, none of them critical.
    /// - Returns: The certificate and its unencrypted private key.
    /// - Throws: `TLSError` when a name is not possible.
    package func issue(
        commonName: String, names: [String], days: Int, client: Bool = false, notBeforeOffset: Int = 0,
        userID: String? = nil, extensions: [CertificateExtension] = []
    ) throws(TLSError) -> (certificatePEM: [UInt8], keyPEM: [UInt8]) {
        let leafKey = try Key.generateP256()
        let draft = try CertificateDraft.start(
            commonName: try Self.checked(commonName), userID: userID, issuer: certificate, key: leafKey)
        try draft.setValidity(startingIn: notBeforeOffset, days: days)
        try draft.add(NID_basic_constraints, "critical,CA:FALSE", issuer: certificate)
        try draft.add(NID_key_usage, "critical,digitalSignature", issuer: certificate)
        try draft.add(NID_ext_key_usage, client ? "clientAuth" : "serverAuth", issuer: certificate)
        try draft.add(NID_subject_key_identifier, "hash", issuer: certificate)
        try draft.add(NID_authority_key_identifier, "keyid:always", issuer: certificate)
        if !names.isEmpty {
            try draft.add(NID_subject_alt_name, try Self.alternativeNames(names), issuer: certificate)
        }
        for part in extensions { try draft.add(part) }
        let leaf = try draft.sign(issuer: certificate, key: key)
        return (try leaf.pem, try leafKey.privatePEM)
    }

    private static func checked(_ commonName: String) throws(TLSError) -> String {
        guard (1...commonNameLimit).contains(commonName.count), !commonName.utf8.contains(0) else {
            throw TLSError(.invalidName, "a common name has 1 to \(commonNameLimit) characters")
        }
        return commonName
    }

    /// Writes names in OpenSSL's notation. Commas and colons have a meaning there (x509v3_config(5)).
    private static func alternativeNames(_ names: [String]) throws(TLSError) -> String {
        var parts: [String] = []
        for name in names {
            var address = in6_addr()
            if inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1 {
                parts.append("IP:\(name)")
                continue
            }
            let isPossible = name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard isPossible, !name.isEmpty else {
                throw TLSError(.invalidName, "“\(name)” is neither a DNS name nor an address")
            }
            parts.append("DNS:\(name)")
        }
        return parts.joined(separator: ",")
    }
}
