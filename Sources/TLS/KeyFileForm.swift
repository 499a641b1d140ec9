import Text

/// What a file for a key or a certificate may hold.
enum KeyFileObject: Equatable {
    case privateKey, encryptedKey, openSSHKey, publicKey, certificate, request, container, other

    /// The object in the words of a message.
    var name: String {
        switch self {
        case .privateKey: "a private key"
        case .encryptedKey: "an encrypted private key"
        case .openSSHKey: "a key of OpenSSH"
        case .publicKey: "a public key"
        case .certificate: "a certificate"
        case .request: "a request for a certificate"
        case .container: "a PKCS#12 file"
        case .other: "something else than a key or a certificate"
        }
    }

    /// The object that a label announces (RFC 7468, 4).
    init(label: ArraySlice<UInt8>) {
        self =
            switch String(decoding: label, as: UTF8.self) {
            case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "DSA PRIVATE KEY": .privateKey
            case "ENCRYPTED PRIVATE KEY": .encryptedKey
            case "OPENSSH PRIVATE KEY": .openSSHKey
            case "PUBLIC KEY", "RSA PUBLIC KEY": .publicKey
            case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE": .certificate
            case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST": .request
            default: .other
            }
    }

    /// The object with a binary form, told by the kinds of its first members; nil for bytes that are not DER.
    init?(der bytes: [UInt8]) {
        var outer = DERReader(bytes)
        guard let whole = outer.next(), whole.tag == DERReader.Tag.sequence else { return nil }
        var members = DERReader(bytes, within: whole)
        guard let first = members.next(), let second = members.next() else { return nil }
        let (integer, octets, bits, sequence) = (UInt8(0x02), UInt8(0x04), UInt8(0x03), DERReader.Tag.sequence)
        switch (first.tag, second.tag) {
        // The version of a container is 3 (RFC 7292, 4), and that of a key is 0 or 1 (RFC 5958, 2).
        case (integer, sequence): self = bytes[first.content] == [3] ? .container : .privateKey
        case (integer, octets): self = .privateKey
        // Two numbers are a public key of RSA, and more are a private key (RFC 8017, A.1).
        case (integer, integer): self = members.isAtEnd ? .publicKey : .privateKey
        case (sequence, bits): self = .publicKey
        case (sequence, octets): self = .encryptedKey
        case (sequence, sequence):
            var signed = DERReader(bytes, within: first)
            // The version of a certificate stands in [0] (RFC 5280, 4.1).
            self = signed.next()?.tag == 0xA0 ? .certificate : .other
        default: self = .other
        }
    }

    /// Decodes base64 that may have white space and written line ends in it; nil for other text.
    static func base64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in text {
            switch byte {
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "n") where isEscaped, UInt8(ascii: "r") where isEscaped: isEscaped = false
            case UInt8(ascii: " "), 0x09...0x0D: isEscaped = false
            default:
                isEscaped = false
                plain.append(byte)
            }
        }
        return plain.isEmpty ? nil : Base64.standard.decode(plain[...])
    }
}

/// What the bytes of a file for a key or a certificate are, told by their frame and how they begin. Its sentences repeat
/// no byte of the file.
enum KeyFileForm: Equatable {
    /// No bytes at all, or nothing but white space.
    case empty, blank
    case utf16
    /// The blocks of a text, at least one.
    case pem([PEMBlock])
    /// A text with a line BEGIN and without the line END that belongs to it.
    case cutPEM
    /// Base64 of a text with blocks, or of an object's binary form.
    case encodedPEM
    case encoded(KeyFileObject)
    /// The binary form of an object.
    case der(KeyFileObject)
    /// The beginning of a binary form.
    case cutDER
    case javaKeyStore, json, webPage
    /// A key's text that a program for documents changed: blanks that do not break, or long dashes.
    case typeset
    case unknown

    /// The largest file that is looked at, in bytes. No file with a key is that large.
    private static let sizeLimit = 1 << 20

    /// Looks at the bytes of a file.
    init(_ bytes: [UInt8]) {
        guard bytes.count <= Self.sizeLimit else {
            self = .unknown
            return
        }
        guard !bytes.isEmpty else {
            self = .empty
            return
        }
        guard let mark = ByteOrderMark.length(before: bytes.span) else {
            self = .utf16
            return
        }
        let text = bytes[mark...]
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let start = text.firstIndex(where: { !isSpace($0) }) else {
            self = .blank
            return
        }
        if let object = KeyFileObject(der: bytes) {
            self = .der(object)
            return
        }
        switch text[start] {
        // A length of several bytes, or the tag of a number or a string of bytes: no text has these here.
        case DERReader.Tag.sequence where bytes.count > 2 && (bytes[1] >= 0x80 || bytes[2] < 0x09): self = .cutDER
        case 0xFE, 0xCE: self = [0xED, 0xCE].contains(bytes.dropFirst().first) ? .javaKeyStore : .unknown
        case UInt8(ascii: "{"): self = .json
        case UInt8(ascii: "<"): self = .webPage
        default: self.init(text: text[start...])
        }
    }

    private init(text: ArraySlice<UInt8>) {
        let (blocks, isCut) = PEMBlock.all(in: text)
        if isCut {
            self = Self.isTypeset(text) ? .typeset : .cutPEM
        } else if !blocks.isEmpty {
            let isRead = blocks.contains { $0.content != nil && $0.object != .other }
            self = !isRead && Self.isTypeset(text) ? .typeset : .pem(blocks)
        } else if let decoded = KeyFileObject.base64(text) {
            let isText = !PEMBlock.all(in: decoded[...]).blocks.isEmpty
            self = isText ? .encodedPEM : KeyFileObject(der: decoded).map { .encoded($0) } ?? .unknown
        } else {
            self = Self.isTypeset(text) ? .typeset : .unknown
        }
    }

    /// Whether a text has U+00A0, or one of the dashes from U+2010 to U+2015 or U+2212.
    private static func isTypeset(_ text: ArraySlice<UInt8>) -> Bool {
        String(decoding: text, as: UTF8.self).unicodeScalars.contains {
            $0 == "\u{A0}" || ("\u{2010}"..."\u{2015}").contains($0) || $0 == "\u{2212}"
        }
    }
}

// MARK: - Sentences. Each follows the name of the file.
extension KeyFileForm {
    /// Why no private key in PEM can be read from a file, and what to do.
    var faultAsKey: String {
        switch self {
        case .pem(let blocks):
            if blocks.contains(where: { $0.object == .encryptedKey }) {
                "holds an encrypted private key: write one that is not encrypted with: openssl pkey -in OLD -out NEW"
            } else if blocks.contains(where: { $0.object == .privateKey }) {
                "holds a private key that is damaged: \(Self.again)"
            } else {
                "holds \(Self.first(of: blocks).name), and a private key is needed: \(Self.wanted)"
            }
        case .cutPEM: "ends before the line END of its key: \(Self.again)"
        case .encoded(.privateKey):
            "is a private key without its first and its last line: write -----BEGIN PRIVATE KEY----- before it and "
                + "-----END PRIVATE KEY----- after it"
        case .der(.privateKey):
            "is a private key in binary form (DER): write it as text with: openssl pkey -inform DER -in OLD -out NEW"
        case .unknown: "is not a key file: \(Self.wanted)"
        case .der, .json, .javaKeyStore: "\(found), and a private key is needed: \(Self.wanted)"
        default: "\(found): \(advice ?? Self.again)"
        }
    }

    /// Why a file is no PKCS#12 file, and what to do. It follows `it`.
    var faultAsContainer: String {
        switch self {
        case .pem: "\(found): name such files in cert_file and key_file instead of file"
        case .der(.certificate): "\(found), without a key: export the certificate together with its key"
        case .javaKeyStore:
            "\(found): turn it into one with: keytool -importkeystore -srckeystore OLD -destkeystore NEW "
                + "-deststoretype PKCS12"
        default: "\(found): \(advice ?? "export the certificate with its key again")"
        }
    }

    /// Why a file has no certificate in PEM, and what to do. It follows `it`; nil where there is nothing to say.
    var faultAsCertificate: String? {
        switch self {
        case .unknown: nil
        case .der(.certificate): "\(found): write it as text with: openssl x509 -inform DER -in OLD -out NEW"
        case .pem, .der, .javaKeyStore: found
        default: "\(found): \(advice ?? Self.again)"
        }
    }

    private static let wanted = "it is PEM text, not encrypted"
    private static let again = "copy the whole file again"

    /// The first object that is known.
    private static func first(of blocks: [PEMBlock]) -> KeyFileObject {
        blocks.first { $0.object != .other }?.object ?? .other
    }

    /// What was found.
    private var found: String {
        switch self {
        case .empty: "is empty"
        case .blank: "has nothing but blanks and line ends"
        case .utf16: "is written in UTF-16"
        case .pem(let blocks): "holds \(Self.first(of: blocks).name) in PEM"
        case .cutPEM: "is PEM text without its line END"
        case .encodedPEM: "is PEM text in base64"
        case .encoded(let object): "is \(object.name) in base64"
        case .der(let object): "is \(object.name) in DER"
        case .cutDER: "is cut off or damaged"
        case .javaKeyStore: "is a key store of Java"
        case .json: "is JSON"
        case .webPage: "is a web page or other markup"
        case .typeset: "has blanks or dashes that a program for documents put there"
        case .unknown: "is something else"
        }
    }

    /// What to do about it, whatever the file is for.
    private var advice: String? {
        switch self {
        case .utf16: "save it in UTF-8, or copy the file again as it was"
        case .encodedPEM, .encoded: "decode it once with: base64 -d"
        case .webPage: "log in where it came from, and load the file itself"
        case .typeset: "copy the file itself, not its text"
        default: nil
        }
    }
}
