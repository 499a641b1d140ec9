import Foundation
import LocalStack
import PushModel
import TLS
import Testing
import Text

@testable import APNSClient

@Suite("Provider tokens", .timeLimit(.minutes(1)))
struct ProviderTokenTests {
    static let start: Int64 = 1_800_000_000

    @Test("One token serves everybody for 30 minutes, then comes the next")
    func schedule() throws {
        let source = try Tokens.source()
        let first = try source.current(wallSeconds: Self.start)
        #expect(try source.current(wallSeconds: Self.start + 1_799) == first)
        let second = try source.current(wallSeconds: Self.start + 1_800)
        #expect(second.generation == 2)
        #expect(second.issuedAt == Self.start + 1_800)
        #expect(second.header != first.header)
    }

    @Test(
        "An expired token is replaced once for all who ask, and not before its time",
        arguments: [
            // (age in seconds, generation that was called expired, generation that follows)
            (0, 1, 1), (59, 1, 1), (60, 1, 2), (60, 0, 1), (1_799, 0, 1), (1_799, 1, 2), (1_800, 0, 2),
        ] as [(Int64, Int, Int)])
    func refresh(age: Int64, refused: Int, expected: Int) throws {
        let source = try Tokens.source()
        _ = try source.current(wallSeconds: Self.start)
        for _ in 0..<3 {
            let token = try source.refresh(after: refused, wallSeconds: Self.start + age)
            #expect(token.generation == expected)
        }
    }

    @Test("A clock that was set far back gets a new token; a little is tolerated")
    func clock() throws {
        let source = try Tokens.source()
        _ = try source.current(wallSeconds: Self.start)
        #expect(try source.current(wallSeconds: Self.start - 300).generation == 1)
        #expect(try source.current(wallSeconds: Self.start - 301).generation == 2)
    }

    @Test("Whenever a connection opens, it never changes its token within 20 minutes nor uses one for an hour")
    func changes() {
        var random = SplitMix64(seed: 7)
        for opening in stride(from: Int64(0), to: 7_200, by: 7) {
            var schedule = ProviderTokenSchedule()
            func take(_ now: Int64) -> ProviderToken {
                if schedule.needsNew(for: .current, now: now) { schedule.issued(now: now) }
                return ProviderToken(header: [], generation: schedule.generation, issuedAt: schedule.issuedAt)
            }
            // Other connections keep the source busy, so that the token found may have any age.
            _ = take(0)
            var now = opening
            var token = take(now)
            for _ in 0..<5 {
                let delay = ProviderTokenChange.delay(of: token, wallSeconds: now, random: &random).components.seconds
                #expect(delay >= 1_200)
                now += delay
                #expect(now - token.issuedAt <= 3_300)
                let next = take(now)
                #expect(next.generation > token.generation)
                token = next
            }
        }
    }

    @Test("The token is a JSON web token that another program verifies")
    func independentVerification() throws {
        let key = try ES256PrivateKey.generate()
        let source = ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key)
        let header = String(decoding: try source.current(wallSeconds: Self.start).header, as: UTF8.self)
        #expect(header.hasPrefix("bearer "))
        let parts = header.dropFirst(7).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        #expect(try json(parts[0]) == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(try json(parts[1]) == ["iss": "DEF123GHIJ", "iat": "1800000000"])

        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["key.pem", "message", "signature"].map { folder.appendingPathComponent($0) }
        try Data(key.publicKey.pem).write(to: files[0])
        try Data("\(parts[0]).\(parts[1])".utf8).write(to: files[1])
        try der(try decode(parts[2])).write(to: files[2])

        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        openssl.arguments = ["dgst", "-sha256", "-verify", files[0].path, "-signature", files[2].path, files[1].path]
        openssl.standardOutput = Pipe()
        try openssl.run()
        openssl.waitUntilExit()
        #expect(openssl.terminationStatus == 0)
    }

    @Test("Three thousand tokens have raw signatures of 64 bytes, and Python's cryptography finds every one valid")
    func manyTokens() throws {
        let key = try ES256PrivateKey.generate()
        let lines = try (0..<3_000).map { number in
            // A source of its own for each: the same source would make a token every half an hour only.
            let source = ProviderTokenSource(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", key: key)
            let token = try source.current(wallSeconds: Self.start + Int64(number)).header
            return String(decoding: token.dropFirst("bearer ".utf8.count), as: UTF8.self)
        }
        let script = """
            import base64, json, sys
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec, utils
            decode = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            lines = sys.stdin.read().split("\\n\\n", 1)
            key = serialization.load_pem_public_key(lines[0].encode() + b"\\n")
            seen = set()
            for number, token in enumerate(lines[1].split()):
                head, claims, signature = token.split(".")
                raw = decode(signature)
                assert len(raw) == 64, number
                assert json.loads(decode(head)) == {"alg": "ES256", "kid": "ABC123DEFG"}, number
                assert json.loads(decode(claims)) == {"iss": "DEF123GHIJ", "iat": 1800000000 + number}, number
                parts = [int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")]
                key.verify(utils.encode_dss_signature(*parts), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
                seen.add(raw)
            print(len(seen))
            """
        let input = Array(
            "\(String(decoding: key.publicKey.pem, as: UTF8.self))\n\(lines.joined(separator: "\n"))".utf8)
        let outcome = try ChildProcess.run("/usr/bin/python3", ["-c", script], input: input)
        #expect(outcome.text == "3000\n", "\(outcome.errorText)")
    }

    private func json(_ part: String) throws -> [String: String] {
        let object = try #require(try JSONSerialization.jsonObject(with: try decode(part)) as? [String: Any])
        return object.mapValues { "\($0)" }
    }

    private func decode(_ part: String) throws -> Data {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        return try #require(Data(base64Encoded: text))
    }

    /// The form of a signature that the command line wants: a sequence of two integers.
    private func der(_ raw: Data) -> Data {
        func integer(_ bytes: Data) -> Data {
            var bytes = Data(bytes.drop { $0 == 0 })
            if let first = bytes.first, first >= 0x80 { bytes.insert(0, at: bytes.startIndex) }
            return Data([0x02, UInt8(bytes.count)]) + bytes
        }
        let content = integer(raw.prefix(32)) + integer(raw.suffix(32))
        return Data([0x30, UInt8(content.count)]) + content
    }
}
