import HTTP2
import TLS

@testable import APNSSimulator

/// What clients can send to the simulator, and what stands in its files.
enum SimulatorFuzzing {
    /// Judges requests as the gateway does.
    private final class Judge: HTTP2ServerDelegate {
        let rules = PushRules()
        weak var session: HTTP2ServerSession?

        func received(request: HTTP2Request) {
            switch rules.check(PushRequest(request), credential: nil) {
            case .valid: session?.respond(streamID: request.streamID, status: 200)
            case .refused(let refusal):
                session?.respond(streamID: request.streamID, status: refusal.status, body: refusal.body)
            }
        }

        func streamClosed(streamID: Int32, code: HTTP2ErrorCode) {}
        func received(goAway: HTTP2GoAway) {}
    }

    static func gateway(_ bytes: [UInt8]) {
        let judge = Judge()
        guard
            let session = try? HTTP2ServerSession(
                settings: HTTP2Settings(maxConcurrentStreams: 10), bodyLimit: 8_192, headerListLimit: 8_000,
                delegate: judge)
        else { preconditionFailure("a session can always be made") }
        judge.session = session
        var output: [UInt8] = []
        let middle = bytes.count / 2
        for piece in [0..<middle, middle..<bytes.count] {
            do {
                try session.receive(bytes.span.extracting(piece))
                try session.send(into: &output, upTo: 1 << 16)
            } catch {
                return
            }
        }
    }

    static func thinGateway(_ bytes: [UInt8]) {
        let session = ThinHTTP2Session(counters: GatewayCounters())
        var output: [UInt8] = []
        let middle = bytes.count / 2
        for piece in [0..<middle, middle..<bytes.count] {
            do {
                try session.receive(bytes.span.extracting(piece))
            } catch {
                return
            }
            session.send(into: &output, upTo: 1 << 16)
        }
    }

    private static let keys: [ProviderKey] = {
        guard let key = try? ES256PrivateKey.generate() else { return [] }
        return [ProviderKey(keyID: "ABC1234567", teamID: "DEF7654321", publicKey: key.publicKey)]
    }()

    static func providerToken(_ bytes: [UInt8]) {
        for acceptsAny in [false, true] {
            let verifier = ProviderTokenVerifier(keys: acceptsAny ? [] : keys, acceptsAnyWellFormed: acceptsAny)
            _ = verifier.verify(Array("bearer ".utf8) + bytes, now: 1_800_000_000)
        }
    }

    static func certificateTopics(_ bytes: [UInt8]) { _ = PushCertificateExtension.topics(in: bytes) }

    static func deviceFrames(_ bytes: [UInt8]) {
        var reader = DeviceFrameReader()
        let middle = bytes.count / 2
        for piece in [bytes[..<middle], bytes[middle...]] {
            reader.append(piece)
            while let frame = try? reader.next() { _ = try? DeviceFrame(bytes: frame) }
        }
    }

    private static let codec: DeviceTokenCodec? = {
        guard let key = try? SealingKey(bytes: Array(0..<32)) else { return nil }
        return DeviceTokenCodec(key: key)
    }()

    static func deviceToken(_ bytes: [UInt8]) { _ = codec?.content(of: bytes) }

    static func scenario(_ bytes: [UInt8]) {
        _ = try? Scenario(yaml: String(decoding: bytes, as: UTF8.self), name: "fuzz")
    }
}
