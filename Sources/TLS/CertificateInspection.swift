import COpenSSL

extension CertificateIdentity {
    /// What the identity's certificate says about itself.
    ///
    /// - Returns: The facts.
    /// - Throws: `TLSError` with the code `invalidCertificate` when one of Apple's extensions or a date is damaged.
    package func facts() throws(TLSError) -> CertificateFacts { try chain[0].facts() }
}

/// Reads Apple's extensions out of a certificate. The bytes may come from a stranger.
enum CertificateInspection {
    /// The most topics in one certificate; Apple's certificates have four.
    static let topicLimit = 256
    /// The most labels of one topic.
    static let kindLimit = 16
    /// The extension that makes a certificate one for development.
    static let developmentExtension = "1.2.840.113635.100.6.3.1"
    /// The extension that makes a certificate one for production.
    static let productionExtension = "1.2.840.113635.100.6.3.2"
    /// The extension with the list of topics.
    static let topicsExtension = "1.2.840.113635.100.6.3.6"
    /// The extension with the topics for VoIP.
    static let voipExtension = "1.2.840.113635.100.6.3.4"
    /// The longest topic, in bytes.
    private static let topicLength = 200

    /// Reads the content of the extension with the list of topics: names and their labels alternate in one sequence.
    ///
    /// - Parameter der: The extension's value.
    /// - Returns: The topics, in their order; nil when the bytes are something else.
    static func topics(_ der: [UInt8]) -> [CertificateFacts.Topic]? {
        var outer = DERReader(der)
        guard let list = outer.next(), list.tag == DERReader.Tag.sequence, outer.isAtEnd else { return nil }
        var entries = DERReader(der, within: list)
        var topics: [CertificateFacts.Topic] = []
        while !entries.isAtEnd {
            guard topics.count < topicLimit, let name = entries.next(), let text = entries.text(of: name),
                (1...topicLength).contains(text.utf8.count), let labels = entries.next(),
                let kinds = kinds(der, labels)
            else { return nil }
            topics.append(CertificateFacts.Topic(name: text, kinds: kinds))
        }
        return topics
    }

    /// Reads the content of the extension with the topics for VoIP: one text, or a sequence of texts with labels or
    /// without.
    ///
    /// Apple documents the extension's name and not its form. So an unknown form gives no topics, and is no error.
    ///
    /// - Parameter der: The extension's value.
    /// - Returns: The topics, in their order; none when the bytes are something else.
    static func voipTopics(_ der: [UInt8]) -> [String] {
        var outer = DERReader(der)
        guard let whole = outer.next(), outer.isAtEnd else { return [] }
        var entries = whole.tag == DERReader.Tag.sequence ? DERReader(der, within: whole) : DERReader(der)
        var topics: [String] = []
        while !entries.isAtEnd {
            guard topics.count < topicLimit, let entry = entries.next() else { return [] }
            if entry.tag == DERReader.Tag.sequence { continue }
            guard let text = entries.text(of: entry), (1...topicLength).contains(text.utf8.count) else { return [] }
            topics.append(text)
        }
        return topics
    }

    private static func kinds(_ der: [UInt8], _ labels: DERReader.Element) -> [String]? {
        guard labels.tag == DERReader.Tag.sequence else { return nil }
        var reader = DERReader(der, within: labels)
        var kinds: [String] = []
        while !reader.isAtEnd {
            guard kinds.count < kindLimit, let label = reader.next(), let text = reader.text(of: label) else {
                return nil
            }
            kinds.append(text)
        }
        return kinds
    }
}

extension Certificate {
    /// What the certificate says about itself.
    fileprivate func facts() throws(TLSError) -> CertificateFacts {
        guard let notBefore = Self.seconds(X509_get0_notBefore(pointer)),
            let notAfter = Self.seconds(X509_get0_notAfter(pointer))
        else { throw TLSError(.invalidCertificate, "\(subject) has a date that cannot be read") }
        let userID = userID
        var topics: [CertificateFacts.Topic]
        if let list = try content(ofExtension: CertificateInspection.topicsExtension) {
            guard let read = CertificateInspection.topics(list) else {
                throw TLSError(.invalidCertificate, "\(subject) has a damaged list of topics")
            }
            topics = read
        } else {
            topics = userID.map { [CertificateFacts.Topic(name: $0, kinds: [])] } ?? []
        }
        let voip = try content(ofExtension: CertificateInspection.voipExtension).map(CertificateInspection.voipTopics)
        for name in voip ?? [] where !topics.contains(where: { $0.name == name }) {
            topics.append(CertificateFacts.Topic(name: name, kinds: ["voip"]))
        }
        return CertificateFacts(
            subject: subject, serialNumber: serialNumber, fingerprint: try fingerprint, userID: userID,
            notBefore: notBefore, notAfter: notAfter,
            isForDevelopment: try content(ofExtension: CertificateInspection.developmentExtension) != nil,
            isForProduction: try content(ofExtension: CertificateInspection.productionExtension) != nil,
            topics: topics)
    }

    /// The value of an extension; nil where the certificate has none.
    ///
    /// - Parameter number: Its object identifier in dotted form.
    /// - Throws: `TLSError` if the certificate has it twice.
    func content(ofExtension number: String) throws(TLSError) -> [UInt8]? {
        ERR_clear_error()
        guard let object = OBJ_txt2obj(number, 1) else { throw .fromQueue(.library, "naming an extension") }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0 else { return nil }
        // RFC 5280, 4.2: no more than one of a kind.
        guard X509_get_ext_by_OBJ(pointer, object, index) < 0, let part = X509_get_ext(pointer, index),
            let value = X509_EXTENSION_get_data(part)
        else { throw TLSError(.invalidCertificate, "\(subject) has extension \(number) twice") }
        return Self.bytes(of: value)
    }

    /// The subject's user identifier (RFC 4519, 2.39), as text.
    var userID: String? {
        let name = X509_get_subject_name(pointer)
        let index = X509_NAME_get_index_by_NID(name, NID_userId, -1)
        guard index >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
        var utf8: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&utf8, value)
        defer {
            CRYPTO_free(utf8, nil, 0)
            ERR_clear_error()
        }
        guard let utf8, count > 0 else { return nil }
        return String(validating: UnsafeBufferPointer(start: utf8, count: Int(count)), as: UTF8.self)
    }

    /// The serial number in hexadecimal digits.
    var serialNumber: String {
        guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(pointer), nil) else { return "" }
        defer { BN_free(number) }
        guard let text = BN_bn2hex(number) else { return "" }
        defer { CRYPTO_free(text, nil, 0) }
        return String(cString: text)
    }

    /// The SHA-256 digest of the certificate, in hexadecimal.
    var fingerprint: String {
        get throws(TLSError) {
            var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard X509_digest(pointer, EVP_sha256(), &digest, &count) == 1 else {
                throw .fromQueue(.library, "digesting a certificate")
            }
            return digest.prefix(Int(count)).reduce(into: "") { text, byte in
                text += byte < 16 ? "0" : ""
                text += String(byte, radix: 16, uppercase: true)
            }
        }
    }

    private static func bytes(of value: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(max(0, ASN1_STRING_length(value)))))
    }
}
