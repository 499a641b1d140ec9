internal import COpenSSL
internal import Glibc

/// Owns one certificate of OpenSSL's.
// OpenSSL counts references atomically, and nothing changes a certificate after it was read or signed.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnership pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    /// The subject as `CN=…, O=…`.
    var subject: String {
        guard let name = X509_get_subject_name(pointer), let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        _ = copenssl_print_name(bio, name)
        return String(decoding: MemoryBIO.contents(of: bio), as: UTF8.self)
    }

    /// When it expires, in seconds since 1970.
    var notAfter: Int64 {
        var time = tm()
        guard ASN1_TIME_to_tm(X509_get0_notAfter(pointer), &time) == 1 else { return 0 }
        return Int64(timegm(&time))
    }

    var pem: [UInt8] { MemoryBIO.writing { PEM_write_bio_X509($0, pointer) } }

    /// All certificates of a PEM text, in order.
    static func all(pem: [UInt8]) -> [Certificate] {
        MemoryBIO.reading(pem) { bio in
            var certificates: [Certificate] = []
            while let pointer = PEM_read_bio_X509(bio, nil, nil, nil) {
                certificates.append(Certificate(takingOwnership: pointer))
            }
            // The end of the text is reported as an error.
            ERR_clear_error()
            return certificates
        } ?? []
    }
}

/// Owns one key of OpenSSL's.
// OpenSSL counts references atomically, and signing or verifying does not change a key.
final class Key: @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnership pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// A private key in PEM (PKCS#8, SEC 1 or PKCS#1); encrypted ones are refused instead of asking on the terminal.
    static func privateKey(pem: [UInt8]) -> Key? {
        MemoryBIO.reading(pem) { bio in
            PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil).map(Key.init(takingOwnership:))
        } ?? nil
    }

    /// A public key in PEM (SubjectPublicKeyInfo).
    static func publicKey(pem: [UInt8]) -> Key? {
        MemoryBIO.reading(pem) { bio in PEM_read_bio_PUBKEY(bio, nil, nil, nil).map(Key.init(takingOwnership:)) } ?? nil
    }

    var privatePEM: [UInt8] { MemoryBIO.writing { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) } }
    var publicPEM: [UInt8] { MemoryBIO.writing { PEM_write_bio_PUBKEY($0, pointer) } }

    /// Whether this is a key of the curve ES256 uses (RFC 7518, 3.4).
    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC, EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1
        else { return false }
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text == "prime256v1" || text == "P-256"
    }
}

/// Passes bytes to and from OpenSSL's readers and writers.
enum MemoryBIO {
    /// Lends a BIO over the bytes; nil when OpenSSL has no memory.
    static func reading<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result) -> Result? {
        bytes.withUnsafeBytes { raw in
            guard let bio = BIO_new_mem_buf(raw.baseAddress, Int32(clamping: raw.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// What the body writes.
    static func writing(_ body: (OpaquePointer) -> Int32) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(bio) }
        return body(bio) == 1 ? contents(of: bio) : []
    }

    /// A copy of what a memory BIO holds.
    static func contents(of bio: OpaquePointer) -> [UInt8] {
        var data: UnsafeMutablePointer<CChar>?
        let count = copenssl_memory(bio, &data)
        guard let data, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }
}

/// Reads small files of keys and certificates.
enum PEMFile {
    /// Certificates and keys are a few kilobytes; anything larger is the wrong file.
    static let maximumSize = 4 << 20

    /// A file's bytes.
    ///
    /// - Throws: `TLSError` with code `badFile`, naming the file and the system's reason.
    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        guard let file = fopen(path, "rbe") else {
            throw TLSError(.badFile, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
            bytes += chunk[..<count]
            guard bytes.count <= maximumSize else { throw TLSError(.badFile, "\(path): larger than a PEM file can be") }
        }
        return bytes
    }
}
