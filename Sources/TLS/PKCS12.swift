import COpenSSL
import Glibc
import Text

/// Certificates and keys in the container that key chains export (PKCS#12, RFC 7292).
enum PKCS12 {
    /// The largest file that is read, in bytes. A file with one key and its chain is smaller.
    private static let sizeLimit = 1 << 20
    /// The most rounds of the password function for the integrity check. No program writes more, and a damaged count
    /// must not stop us for hours.
    private static let roundLimit = 10_000_000
    /// The most certificates that are read from one file; the chain of a push certificate has three.
    private static let certificateLimit = 64

    /// The content of a file, read again in the process's own library context.
    struct Content {
        /// The certificate of the key, then its issuer, and so on as far as the file has them.
        var chain: [Certificate]
        /// The private key.
        var key: Key
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: Its content.
    ///   - password: The password that protects it; nil for none.
    ///   - source: The name of the file in an error.
    /// - Returns: The key and its certificates.
    /// - Throws: `TLSError` when the password is wrong, the bytes are damaged, or key or certificate is missing.
    static func read(_ bytes: [UInt8], password: [UInt8]?, from source: String) throws(TLSError) -> Content {
        guard bytes.count <= sizeLimit else { throw TLSError(.invalidCertificate, "\(source) is too large") }
        guard password?.contains(0) != true else {
            throw TLSError(.invalidKey, "\(source): a password has no zero byte")
        }
        ERR_clear_error()
        let library = try OldAlgorithms()
        let raw: (certificates: [[UInt8]], key: [UInt8]) = try parse(bytes, password, source, library)
        // Read both again from their plain form: objects of the other library context must not outlive that context.
        var certificates: [Certificate] = []
        for der in raw.certificates {
            guard let certificate = Certificate(der: der) else {
                throw .fromQueue(.invalidCertificate, "reading a certificate of \(source)")
            }
            certificates.append(certificate)
        }
        guard let key = Key(privateDER: raw.key) else { throw .fromQueue(.invalidKey, "reading the key of \(source)") }
        return Content(chain: chain(from: certificates), key: key)
    }

    /// Takes the container apart. Returns its certificates and its key as DER.
    private static func parse(
        _ bytes: [UInt8], _ password: [UInt8]?, _ source: String, _ library: borrowing OldAlgorithms
    ) throws(TLSError) -> (certificates: [[UInt8]], key: [UInt8]) {
        let container = library.use {
            bytes.withUnsafeBufferPointer { buffer in
                var next = buffer.baseAddress
                return d2i_PKCS12(nil, &next, buffer.count)
            }
        }
        guard let container else {
            ERR_clear_error()
            let fault = KeyFileForm(bytes).faultAsContainer
            throw TLSError(.invalidCertificate, "\(source) is not a PKCS#12 file: it \(fault)")
        }
        defer { PKCS12_free(container) }
        try checkIntegrityData(container, source)
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let text = password.map { $0.map { CChar(bitPattern: $0) } + [0] }
        let isParsed = library.use { PKCS12_parse(container, text, &key, &certificate, &others) == 1 }
        // From here on these objects free the parsed key and certificates, also after an error.
        let ownedKey = key.map { Key(takingOwnership: $0) }
        var owned = certificate.map { [Certificate(takingOwnership: $0)] } ?? []
        owned += Certificate.take(others)
        guard isParsed else { throw failure(source, library, Seal(of: container), password) }
        guard let ownedKey else { throw TLSError(.invalidKey, "\(source) holds no private key") }
        guard certificate != nil else {
            throw TLSError(.invalidCertificate, "\(source) holds no certificate for its private key")
        }
        var ders: [[UInt8]] = []
        for one in owned.prefix(certificateLimit) { ders.append(try one.der) }
        return (ders, try ownedKey.privateDER)
    }

    /// Refuses a container that anybody could have changed, and one whose integrity check would take hours.
    private static func checkIntegrityData(_ container: OpaquePointer, _ source: String) throws(TLSError) {
        guard PKCS12_mac_present(container) == 1 else {
            throw TLSError(.invalidCertificate, "\(source) has no integrity check: export it with a password")
        }
        let count = Seal(of: container).rounds
        guard (1...roundLimit).contains(count) else {
            throw TLSError(.invalidCertificate, "\(source) asks for \(count) rounds of its password function")
        }
    }

    /// Why a container could not be taken apart, and what to do.
    private static func failure(
        _ source: String, _ library: borrowing OldAlgorithms, _ seal: Seal, _ password: [UInt8]?
    ) -> TLSError {
        // The known causes count wherever they stand in the queue: other modules add entries before and after them.
        // Otherwise the last entry is the reason.
        var isWrongPassword = false
        var isUnsupported = false
        var isUnknownSeal = false
        var last: UInt = 0
        while case let number = ERR_get_error(), number != 0 {
            last = number
            let (module, reason) = (ERR_GET_LIB(number), ERR_GET_REASON(number))
            if module == ERR_LIB_PKCS12, reason == PKCS12_R_MAC_VERIFY_FAILURE { isWrongPassword = true }
            if module == ERR_LIB_PKCS12, reason == PKCS12_R_UNKNOWN_DIGEST_ALGORITHM { isUnknownSeal = true }
            if module == ERR_LIB_EVP, reason == EVP_R_UNSUPPORTED_ALGORITHM { isUnsupported = true }
        }
        if isUnsupported, !library.hasOldCiphers {
            return TLSError(
                .library,
                "\(source) is encrypted with an old cipher, and OpenSSL's legacy provider is not installed: install it, "
                    + "or export the file again with a present-day cipher")
        }
        // OpenSSL takes a seal that it cannot check for one that does not fit.
        if isUnknownSeal { return TLSError(.library, "\(source) \(seal.fault)") }
        if isWrongPassword {
            let hint = TrailingBlank.hint(password).map { "; \($0)" } ?? ""
            return TLSError(.invalidKey, "\(source): the password is wrong\(hint)")
        }
        let text = ERR_reason_error_string(last).map { String(cString: $0) } ?? "it cannot be taken apart"
        return TLSError(.invalidCertificate, "\(source): \(text)")
    }

    /// Puts the issuers of the first certificate in order. Certificates that are not in its chain are left out.
    private static func chain(from certificates: [Certificate]) -> [Certificate] {
        var chain = [certificates[0]]
        var others = Array(certificates.dropFirst())
        while let index = others.firstIndex(where: {
            X509_check_issued($0.pointer, chain[chain.count - 1].pointer) == X509_V_OK
        }) {
            chain.append(others.remove(at: index))
        }
        return chain
    }
}

/// How the integrity of a container is checked.
private struct Seal {
    /// Whether it is PBMAC1 (RFC 9579).
    let isPBMAC1: Bool
    /// How many rounds its password function has. A count that cannot be read is 0.
    let rounds: Int

    init(of container: OpaquePointer) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        var count: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, &algorithm, nil, &count, container)
        var name: OpaquePointer?
        var kind: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(&name, &kind, &value, algorithm)
        var text = [CChar](repeating: 0, count: 32)
        isPBMAC1 = OBJ_obj2txt(&text, Int32(text.count), name, 1) > 0 && strcmp(text, "1.2.840.113549.1.5.14") == 0
        guard isPBMAC1 else {
            // Absent means one round (RFC 7292, 4).
            rounds = count.map { ASN1_INTEGER_get($0) } ?? 1
            return
        }
        guard kind == V_ASN1_SEQUENCE, let value else {
            rounds = 0
            return
        }
        let string = value.assumingMemoryBound(to: ASN1_STRING.self)
        let length = Int(ASN1_STRING_length(string))
        rounds = PBMAC1.rounds(Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: length))) ?? 0
    }

    /// Why it cannot be checked, and what to do.
    var fault: String {
        let version = OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
        return isPBMAC1
            ? "is sealed with PBMAC1 (RFC 9579), which OpenSSL checks from 3.4 on, and this is OpenSSL \(version): "
                + "export it again without -pbmac1_pbkdf2, or name certificate and key as PEM in cert_file and key_file"
            : "is sealed in a way that this OpenSSL (\(version)) does not know: export it again"
    }
}

/// The parameters of PBMAC1.
enum PBMAC1 {
    /// How many rounds the password function has; nil for parameters that cannot be read.
    ///
    /// - Parameter parameters: DER, as RFC 8018, A.5 writes them.
    static func rounds(_ parameters: [UInt8]) -> Int? {
        // SEQUENCE { SEQUENCE { name, SEQUENCE { salt, rounds, … } }, … }
        var outer = DERReader(parameters)
        guard let whole = outer.next() else { return nil }
        var members = DERReader(parameters, within: whole)
        guard let function = members.next() else { return nil }
        var parts = DERReader(parameters, within: function)
        guard parts.next() != nil, let details = parts.next() else { return nil }
        var values = DERReader(parameters, within: details)
        guard values.next() != nil, let rounds = values.next(), rounds.tag == 0x02,
            (1...4).contains(rounds.content.count)
        else { return nil }
        return parameters[rounds.content].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// A library context of OpenSSL that also knows obsolete ciphers, such as RC2-40.
///
/// Old key-chain exports need them (OSSL_PROVIDER-legacy(7)). The process's own context does not change, so these
/// ciphers are never offered to TLS.
private struct OldAlgorithms: ~Copyable {
    private let context: OpaquePointer
    /// Whether the system has the provider with the old ciphers.
    var hasOldCiphers: Bool { legacy != nil }
    private let ordinary: OpaquePointer
    private let legacy: OpaquePointer?

    init() throws(TLSError) {
        guard let context = OSSL_LIB_CTX_new() else { throw .fromQueue(.library, "making a library context") }
        guard let ordinary = OSSL_PROVIDER_load(context, "default") else {
            OSSL_LIB_CTX_free(context)
            throw .fromQueue(.library, "loading OpenSSL's default provider")
        }
        self.context = context
        self.ordinary = ordinary
        legacy = OSSL_PROVIDER_load(context, "legacy")
        // Its absence is not an error before a file needs it.
        ERR_clear_error()
    }

    /// Makes this context the calling thread's default during a call. OpenSSL 3.0 does not pass the container's context
    /// on to all its functions, which then use the thread's default.
    func use<Result>(_ body: () -> Result) -> Result {
        let before = OSSL_LIB_CTX_set0_default(context)
        defer { OSSL_LIB_CTX_set0_default(before) }
        return body()
    }

    deinit {
        if let legacy { OSSL_PROVIDER_unload(legacy) }
        OSSL_PROVIDER_unload(ordinary)
        OSSL_LIB_CTX_free(context)
    }
}

extension Certificate {
    /// Takes all certificates out of a C list and frees the list.
    ///
    /// - Parameter list: A STACK_OF(X509) that owns its elements; nil for none.
    /// - Returns: The certificates.
    static func take(_ list: OpaquePointer?) -> [Certificate] {
        guard let list else { return [] }
        defer { OPENSSL_sk_free(list) }
        return (0..<max(0, OPENSSL_sk_num(list))).compactMap { index in
            OPENSSL_sk_value(list, index).map { Certificate(takingOwnership: OpaquePointer($0)) }
        }
    }

    /// Reads the binary form (RFC 5280, 4.1); nil when it is damaged, with the cause in OpenSSL's error queue.
    convenience init?(der: [UInt8]) {
        let certificate = der.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_X509(nil, &next, buffer.count)
        }
        guard let certificate else { return nil }
        self.init(takingOwnership: certificate)
    }

    /// The binary form (RFC 5280, 4.1).
    var der: [UInt8] {
        get throws(TLSError) {
            guard let bio = MemoryBIO(), i2d_X509_bio(bio.pointer, pointer) == 1 else {
                throw .fromQueue(.library, "writing a certificate")
            }
            return bio.contents
        }
    }
}

extension Key {
    /// Reads an unencrypted private key in binary form; nil when it is damaged.
    convenience init?(privateDER der: [UInt8]) {
        let key = der.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &next, buffer.count)
        }
        guard let key else { return nil }
        self.init(takingOwnership: key)
    }

    /// The private key as unencrypted PKCS#8 in binary form: a secret.
    var privateDER: [UInt8] {
        get throws(TLSError) {
            guard let bio = MemoryBIO(), i2d_PKCS8PrivateKeyInfo_bio(bio.pointer, pointer) == 1 else {
                throw .fromQueue(.library, "writing a key")
            }
            return bio.contents
        }
    }
}
