import COpenSSL
import Glibc

/// Owns one reference to an X.509 certificate.
final class Certificate: Sendable {
    /// The C object.
    // Never changed once it is here; OpenSSL counts references atomically.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a reference.
    ///
    /// - Parameter pointer: An X509.
    init(takingOwnership pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        X509_free(pointer)
    }

    /// The subject in the form of RFC 2253.
    var subject: String { Self.text(of: X509_get_subject_name(pointer)) }

    /// The end of its validity, in seconds since 1970.
    var notAfter: Int64 {
        var time = tm()
        guard ASN1_TIME_to_tm(X509_get0_notAfter(pointer), &time) == 1 else { return 0 }
        return Int64(timegm(&time))
    }

    /// Writes an X509_NAME in the form of RFC 2253.
    ///
    /// - Parameter name: The X509_NAME.
    /// - Returns: Its text, empty for a certificate without one.
    static func text(of name: OpaquePointer?) -> String {
        guard let name, let bio = MemoryBIO() else { return "" }
        X509_NAME_print_ex(bio.pointer, name, 0, copenssl_name_flags)
        return String(decoding: bio.contents, as: UTF8.self)
    }
}
