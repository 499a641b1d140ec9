import COpenSSL

/// A certificate that is being written and not signed yet.
struct CertificateDraft: ~Copyable {
    private let pointer: OpaquePointer

    /// Starts a certificate with a random serial number.
    ///
    /// - Parameters:
    ///   - commonName: The subject's common name.
    ///   - userID: The subject's user identifier, nil for none.
    ///   - issuer: The certificate of the signer; nil if the draft is signed with its own key.
    ///   - key: The subject's key; its public half goes into the certificate.
    /// - Returns: The draft.
    /// - Throws: `TLSError` when a name is not possible.
    static func start(
        commonName: String, userID: String? = nil, issuer: Certificate? = nil, key: Key
    ) throws(TLSError) -> CertificateDraft {
        ERR_clear_error()
        guard let pointer = X509_new() else { throw .fromQueue(.library, "making a certificate") }
        let draft = CertificateDraft(pointer: pointer)
        let subject = X509_get_subject_name(pointer)
        var isComplete =
            X509_set_version(pointer, Int(X509_VERSION_3)) == 1
            && X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, commonName, -1, -1, 0) == 1
        if let userID, isComplete {
            isComplete = X509_NAME_add_entry_by_NID(subject, NID_userId, MBSTRING_UTF8, userID, -1, -1, 0) == 1
        }
        let issuerName = issuer.map { X509_get_subject_name($0.pointer) } ?? subject
        guard isComplete, X509_set_issuer_name(pointer, issuerName) == 1, X509_set_pubkey(pointer, key.pointer) == 1,
            draft.setSerialNumber()
        else { throw .fromQueue(.invalidName, "naming a certificate") }
        return draft
    }

    private init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        X509_free(pointer)
    }

    /// Sets the time the certificate is valid.
    ///
    /// - Parameters:
    ///   - seconds: When it starts, in seconds from now; negative for the past.
    ///   - days: How many days it lasts.
    /// - Throws: `TLSError` when a date lies beyond the calendar.
    func setValidity(startingIn seconds: Int, days: Int) throws(TLSError) {
        guard X509_gmtime_adj(X509_getm_notBefore(pointer), seconds) != nil,
            X509_gmtime_adj(X509_getm_notAfter(pointer), seconds + days * 86_400) != nil
        else { throw .fromQueue(.library, "setting a certificate's validity") }
    }

    /// Adds an extension.
    ///
    /// - Parameters:
    ///   - kind: Its number in OpenSSL's list.
    ///   - value: Its value in the notation of x509v3_config(5). It must not come from a stranger.
    ///   - issuer: The certificate of the signer; nil if the draft is signed with its own key.
    /// - Throws: `TLSError` when the value is not possible.
    func add(_ kind: Int32, _ value: String, issuer: Certificate?) throws(TLSError) {
        ERR_clear_error()
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.pointer ?? pointer, pointer, nil, nil, 0)
        guard let part = X509V3_EXT_nconf_nid(nil, &context, kind, value) else {
            throw .fromQueue(.invalidCertificate, "writing a certificate extension")
        }
        defer { X509_EXTENSION_free(part) }
        guard X509_add_ext(pointer, part, -1) == 1 else { throw .fromQueue(.library, "adding an extension") }
    }

    /// Adds an extension that is not critical. OpenSSL need not know it.
    ///
    /// - Parameter part: Its identifier and content.
    /// - Throws: `TLSError` when the identifier is malformed.
    func add(_ part: CertificateExtension) throws(TLSError) {
        ERR_clear_error()
        guard let object = OBJ_txt2obj(part.identifier, 1) else {
            throw .fromQueue(.invalidCertificate, "reading the identifier \(part.identifier)")
        }
        defer { ASN1_OBJECT_free(object) }
        let content = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(content) }
        guard ASN1_OCTET_STRING_set(content, part.content, Int32(clamping: part.content.count)) == 1,
            let whole = X509_EXTENSION_create_by_OBJ(nil, object, 0, content)
        else { throw .fromQueue(.library, "writing the certificate extension \(part.identifier)") }
        defer { X509_EXTENSION_free(whole) }
        guard X509_add_ext(pointer, whole, -1) == 1 else { throw .fromQueue(.library, "adding an extension") }
    }

    /// Signs the certificate.
    ///
    /// - Parameters:
    ///   - issuer: The signer's certificate, nil when it signs itself.
    ///   - key: The signer's private key.
    /// - Returns: The certificate.
    /// - Throws: `TLSError` when OpenSSL fails.
    consuming func sign(issuer: Certificate?, key: Key) throws(TLSError) -> Certificate {
        ERR_clear_error()
        guard X509_sign(pointer, key.pointer, EVP_sha256()) > 0, X509_up_ref(pointer) == 1 else {
            throw .fromQueue(.library, "signing a certificate")
        }
        return Certificate(takingOwnership: pointer)
    }

    /// 127 random bits: two certificates of one issuer must not share a number (RFC 5280, 4.1.2.2).
    private func setSerialNumber() -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        return BN_rand(number, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }
}

extension Certificate {
    /// The certificate as a text (RFC 7468, 5).
    var pem: [UInt8] {
        get throws(TLSError) { try PEM.writing("a certificate") { PEM_write_bio_X509($0, pointer) } }
    }
}

extension Key {
    /// The key as an unencrypted PKCS#8 text (RFC 7468, 10).
    var privatePEM: [UInt8] {
        get throws(TLSError) {
            try PEM.writing("a key") { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
        }
    }

    /// The public half as a text (RFC 7468, 13).
    var publicPEM: [UInt8] {
        get throws(TLSError) { try PEM.writing("a public key") { PEM_write_bio_PUBKEY($0, pointer) } }
    }
}
