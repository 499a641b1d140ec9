import COpenSSL
import Glibc

/// Owns one reference to an X.509 certificate.
final class Certificate: Sendable {
    /// The C object.
    // Never changed after init; OpenSSL counts references atomically.
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

    /// The subject in the form of RFC 2253, but with readable characters beyond ASCII.
    var subject: String { Self.text(of: X509_get_subject_name(pointer)) }

    /// The end of its validity, in seconds since 1970; 0 if the date cannot be read.
    var notAfter: Int64 { Self.seconds(X509_get0_notAfter(pointer)) ?? 0 }

    /// Reads an ASN1_TIME.
    ///
    /// - Parameter moment: The ASN1_TIME.
    /// - Returns: Seconds since 1970; nil for a date that cannot be read.
    static func seconds(_ moment: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var time = tm()
        guard let moment, ASN1_TIME_to_tm(moment, &time) == 1 else { return nil }
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
