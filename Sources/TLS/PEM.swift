import COpenSSL
import Glibc

/// Certificates and keys in their text form (RFC 7468).
enum PEM {
    /// The largest file that is read, in bytes. The whole Mozilla list has a quarter of a megabyte.
    private static let fileLimit = 16 << 20

    /// Reads all certificates of a text; other blocks between them are skipped.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - source: The name of the text in an error.
    /// - Returns: The certificates in their order, at least one.
    /// - Throws: `TLSError` when none is found or one is damaged.
    static func certificates(in bytes: [UInt8], from source: String) throws(TLSError) -> [Certificate] {
        guard !bytes.isEmpty else { throw TLSError(.invalidCertificate, "\(source) is empty") }
        ERR_clear_error()
        let certificates = reading(bytes) { bio in
            var certificates: [Certificate] = []
            while let certificate = PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                certificates.append(Certificate(takingOwnership: certificate))
            }
            return certificates
        }
        guard let certificates else { throw .fromQueue(.library, "reading the certificates of \(source)") }
        // Only the error "no further block" means that the text ended in order.
        let end = ERR_peek_last_error()
        guard ERR_GET_LIB(end) == ERR_LIB_PEM, ERR_GET_REASON(end) == PEM_R_NO_START_LINE else {
            throw .fromQueue(.invalidCertificate, "reading the certificates of \(source)")
        }
        ERR_clear_error()
        guard !certificates.isEmpty else {
            let fault = KeyFileForm(bytes).faultAsCertificate.map { ": it \($0)" } ?? ""
            throw TLSError(.invalidCertificate, "\(source) holds no PEM certificate\(fault)")
        }
        return certificates
    }

    /// Reads the first private key of a text, which need not be laid out as RFC 7468 asks (``PEMBlock``).
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - source: The name of the text in an error.
    /// - Returns: The key.
    /// - Throws: `TLSError` when it is missing, damaged or encrypted.
    static func privateKey(in bytes: [UInt8], from source: String) throws(TLSError) -> Key {
        let form = KeyFileForm(bytes)
        guard case .pem(let blocks) = form, let block = blocks.first(where: { $0.object == .privateKey }),
            let content = block.content
        else { throw TLSError(.invalidKey, "\(source) \(form.faultAsKey)") }
        ERR_clear_error()
        let key = Key(privateDER: content)
        ERR_clear_error()
        guard let key else { throw TLSError(.invalidKey, "\(source) \(form.faultAsKey)") }
        return key
    }

    /// Reads the first public key of a text.
    ///
    /// - Parameter bytes: The text.
    /// - Returns: The key.
    /// - Throws: `TLSError` when it is missing or damaged.
    static func publicKey(in bytes: [UInt8]) throws(TLSError) -> Key {
        ERR_clear_error()
        let key = reading(bytes) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
        guard let key else { throw .fromQueue(.invalidKey, "no readable PEM public key") }
        ERR_clear_error()
        return Key(takingOwnership: key)
    }

    /// Lets C code write a text.
    ///
    /// - Parameters:
    ///   - what: What is written, for an error.
    ///   - write: Writes to the BIO; a result other than 1 is a failure.
    /// - Returns: The text.
    /// - Throws: `TLSError` when writing fails.
    static func writing(_ what: String, _ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
        ERR_clear_error()
        guard let bio = MemoryBIO(), write(bio.pointer) == 1 else { throw .fromQueue(.library, "writing \(what)") }
        return bio.contents
    }

    /// Reads a whole file. A pipe, socket or device is refused, because a read from it could wait for ever.
    ///
    /// - Parameter path: The file's path.
    /// - Returns: Its bytes.
    /// - Throws: `TLSError` with the code `fileUnreadable`.
    static func contents(ofFile path: String) throws(TLSError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw TLSError(.fileUnreadable, "cannot open \(path): \(errorText())") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw TLSError(.fileUnreadable, "cannot read \(path): it is not a plain file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw TLSError(.fileUnreadable, "cannot read \(path): \(errorText())") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= fileLimit else { throw TLSError(.fileUnreadable, "\(path) is too large") }
        }
    }

    /// The system's words for errno. They come from strerror_r, because strerror(3) shares one buffer between threads.
    private static func errorText() -> String {
        let number = errno
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let text = buffer.baseAddress, strerror_r(number, text, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: text)
        }
    }

    /// Lends a text to C code; nil without memory left.
    private static func reading<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        bytes.withUnsafeBytes { buffer in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }
}
