import COpenSSL

/// The two forms of an ECDSA signature.
enum ES256Signature {
    /// How many bytes each of the two numbers has on P-256.
    private static let half = 32

    /// Turns DER into raw form.
    static func raw(fromDER der: ArraySlice<UInt8>) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &next, bytes.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 2 * half)
        let isWritten = raw.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            // Padded: one number in 256 has a leading zero byte.
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, Int32(half)) == half
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + half, Int32(half)) == half
        }
        return isWritten ? raw : nil
    }

    /// Turns raw form into DER; nil unless there are 64 bytes.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * half, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let isRead = raw.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            let r = BN_bin2bn(base, Int32(half), nil)
            let s = BN_bin2bn(base + half, Int32(half), nil)
            // The call takes both numbers over, unless one of them is missing.
            if ECDSA_SIG_set0(signature, r, s) == 1 { return true }
            BN_free(r)
            BN_free(s)
            return false
        }
        guard isRead else { return nil }
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &der)
        guard let der, count > 0 else { return nil }
        defer { CRYPTO_free(der, nil, 0) }
        return Array(UnsafeBufferPointer(start: der, count: Int(count)))
    }
}
