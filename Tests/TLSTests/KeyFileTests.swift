import Foundation
import Testing
import Text

@testable import TLS

@Suite("Files of keys as people have them", .timeLimit(.minutes(1)))
struct KeyFileTests {
    private let scratch: Scratch
    private let pem: String
    private let base64: String

    init() throws {
        scratch = try Scratch()
        pem = String(decoding: try ES256PrivateKey.generate().pem, as: UTF8.self)
        base64 = pem.split(separator: "\n").dropFirst().dropLast().joined()
        try scratch.write(Array(pem.utf8), "key.pem")
    }

    /// The message about a file with these bytes; nil where the key can be used.
    private func fault(_ bytes: [UInt8]) throws -> String? {
        try scratch.write(bytes, "AuthKey_X.p8")
        do throws(TLSError) {
            let key = try ES256PrivateKey(file: scratch.path("AuthKey_X.p8"))
            #expect(String(decoding: key.pem, as: UTF8.self) == pem)
            return nil
        } catch {
            #expect(error.code == .invalidKey)
            for part in base64.split(separator: "/") where part.count > 8 {
                #expect(!error.message.contains(part), "a part of the key")
            }
            #expect(error.message.hasPrefix(scratch.path("AuthKey_X.p8") + " "))
            return error.message.replacingOccurrences(of: scratch.path("AuthKey_X.p8"), with: "FILE")
        }
    }

    private func openssl(_ arguments: String...) throws -> [UInt8] {
        _ = try scratch.openssl(arguments + ["-out", "made"])
        return try scratch.read("made")
    }

    @Test("a key is read however its lines were passed on, because white space means nothing in base64")
    func accepted() throws {
        let lines = pem.split(separator: "\n").map(String.init)
        let escaped = lines.joined(separator: "\\n")
        let shapes: [String: String] = [
            "as Apple gives it": pem, "without its last line end": lines.joined(separator: "\n"),
            "CR LF": lines.joined(separator: "\r\n"), "CR": lines.joined(separator: "\r"), "mark": "\u{FEFF}" + pem,
            "written line ends": escaped, "in quotes": "\"\(escaped)\\n\"", "in single quotes": "'\(pem)'",
            "twice escaped": lines.joined(separator: "\\\\n"), "one line": lines.joined(separator: " "),
            "indented": lines.map { "    " + $0 }.joined(separator: "\n"), "tabs": lines.joined(separator: "\n\t"),
            "blank lines": lines.joined(separator: "\n\n"), "a name before it": "KEY=\"\(escaped)\"",
            "words around it": "Key of the shop\n\(pem)\nkeep it safe\n",
        ]
        for (name, text) in shapes {
            let fault = try fault(Array(text.utf8))
            #expect(fault == nil, "\(name)")
        }
    }

    private static let wanted = "it is PEM text, not encrypted"
    private static let again = "copy the whole file again"

    private func expect(_ shapes: [(bytes: [UInt8], fault: String)]) throws {
        for (bytes, expected) in shapes {
            let found = try fault(bytes)
            #expect(found == expected, "\(found ?? "accepted")")
        }
    }

    @Test("a key that was changed on its way is named with what to do")
    func changed() throws {
        let utf16 = Array(pem.data(using: .utf16LittleEndian) ?? Data())
        let encoded = Array(Data(pem.utf8).base64EncodedString().utf8)
        let (wanted, again) = (Self.wanted, Self.again)
        let typeset =
            "FILE has blanks or dashes that a program for documents put there: copy the file itself, not its text"
        try expect([
            ([], "FILE is empty: \(again)"),
            (Array(" \r\n\t\n".utf8), "FILE has nothing but blanks and line ends: \(again)"),
            (utf16, "FILE is written in UTF-16: save it in UTF-8, or copy the file again as it was"),
            ([0xFF, 0xFE] + utf16, "FILE is written in UTF-16: save it in UTF-8, or copy the file again as it was"),
            (encoded, "FILE is PEM text in base64: decode it once with: base64 -d"),
            (
                Array(base64.utf8),
                "FILE is a private key without its first and its last line: write -----BEGIN PRIVATE KEY----- before it "
                    + "and -----END PRIVATE KEY----- after it"
            ),
            (Array(pem.replacingOccurrences(of: " ", with: "\u{A0}").utf8), typeset),
            (Array(pem.replacingOccurrences(of: "\n", with: "\n\u{A0}").utf8), typeset),
            (Array(pem.replacingOccurrences(of: "-----", with: "—–").utf8), typeset),
            (Array(pem.utf8.prefix(pem.utf8.count / 2)), "FILE ends before the line END of its key: \(again)"),
            (Array(pem.utf8.dropLast(3)), "FILE ends before the line END of its key: \(again)"),
            (
                Array("{\"private_key\":\"\(pem.replacingOccurrences(of: "\n", with: "\\n"))\"}".utf8),
                "FILE is JSON, and a private key is needed: \(wanted)"
            ),
            (
                Array("<!DOCTYPE html>\n<html>".utf8),
                "FILE is a web page or other markup: log in where it came from, and load the file itself"
            ),
        ])
    }

    @Test("what is not a key as text is named with what to do, and no byte of the key")
    func refused() throws {
        let (wanted, again) = (Self.wanted, Self.again)
        let damaged = "FILE holds a private key that is damaged: \(again)"
        let block = { (label: String) in Array("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n".utf8) }
        let java: [UInt8] = [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2]
        let other = { (what: String) in "FILE holds \(what), and a private key is needed: \(wanted)" }
        let encrypted =
            "FILE holds an encrypted private key: write one that is not encrypted with: "
            + "openssl pkey -in OLD -out NEW"
        _ = try scratch.openssl(
            "req", "-x509", "-key", "key.pem", "-subj", "/CN=x", "-days", "2", "-out", "certificate.pem")
        try expect([
            (try openssl("pkey", "-in", "key.pem", "-pubout"), other("a public key")),
            (try scratch.read("certificate.pem"), other("a certificate")),
            (try openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=x"), other("a request for a certificate")),
            (block("OPENSSH PRIVATE KEY"), other("a key of OpenSSH")),
            (block("NOTHING"), other("something else than a key or a certificate")),
            (
                try openssl("pkey", "-in", "key.pem", "-outform", "DER"),
                "FILE is a private key in binary form (DER): write it as text with: "
                    + "openssl pkey -inform DER -in OLD -out NEW"
            ),
            (
                try openssl("ec", "-in", "key.pem", "-outform", "DER"),
                "FILE is a private key in binary form (DER): write it as text with: "
                    + "openssl pkey -inform DER -in OLD -out NEW"
            ),
            (
                try openssl("x509", "-in", "certificate.pem", "-outform", "DER"),
                "FILE is a certificate in DER, and a private key is needed: \(wanted)"
            ),
            (
                Array(try openssl("pkey", "-in", "key.pem", "-outform", "DER").dropLast(9)),
                "FILE is cut off or damaged: \(again)"
            ),
            (try openssl("pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:x"), encrypted),
            (try openssl("ec", "-aes128", "-in", "key.pem", "-passout", "pass:x"), encrypted),
            (Array(pem.replacingOccurrences(of: "M", with: "?").utf8), damaged), (block("PRIVATE KEY"), damaged),
            (Array("geheim".utf8), "FILE is not a key file: \(wanted)"),
            (java, "FILE is a key store of Java, and a private key is needed: \(wanted)"),
            ([UInt8](repeating: 0x2D, count: 2 << 20), "FILE is not a key file: \(wanted)"),
        ])
    }

    @Test("a file beside which a certificate was expected says what it is")
    func certificates() throws {
        _ = try scratch.openssl(
            "req", "-x509", "-key", "key.pem", "-subj", "/CN=x", "-days", "2", "-outform", "DER", "-out",
            "certificate.der")
        try scratch.write(Array("nothing here\n".utf8), "text")
        try scratch.write(Array("<html>".utf8), "page")
        for (file, words) in [
            (
                "certificate.der",
                ": it is a certificate in DER: write it as text with: openssl x509 -inform DER -in OLD -out NEW"
            ),
            ("key.pem", ": it holds a private key in PEM"), ("text", ""),
            ("page", ": it is a web page or other markup: log in where it came from, and load the file itself"),
        ] {
            let error = #expect(throws: TLSError.self) {
                try CertificateIdentity(certificateFile: scratch.path(file), keyFile: scratch.path("key.pem"))
            }
            #expect(error?.message == "\(scratch.path(file)) holds no PEM certificate\(words)")
        }
    }
}
