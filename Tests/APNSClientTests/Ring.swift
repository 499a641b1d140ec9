import EventLoop
import HTTP2
import PushModel
import TLS
import TestSupport
import Testing

@testable import APNSClient

/// A pool and a scripted server on one loop; only connecting happens elsewhere.
final class Ring: PoolDriver {
    let server: ScriptedServer

    init(
        settings: HTTP2Settings = HTTP2Settings(maxConcurrentStreams: 1_000), tokens: ProviderTokenSource? = nil,
        credential: APNSCredential? = nil, trust: TrustRoots? = nil, context: TLSContext? = nil,
        _ change: (inout APNSPoolConfiguration) -> Void = { _ in }
    ) throws {
        let loop = try EventLoop()
        let certificates = try ThrowawayCertificates()
        server = try ScriptedServer(
            loop: loop, context: try context ?? certificates.serverContext(), settings: settings)
        try super.init(
            loop: loop, port: server.port, trust: trust ?? certificates.trust, tokens: tokens, credential: credential,
            change)
    }

    deinit { server.close() }
}

extension PushAnswer {
    /// The response, where there is one.
    var response: APNSResponse? { if case .response(let response) = self { response } else { nil } }
    var isUnprocessed: Bool { if case .unprocessed = self { true } else { false } }
    var cause: UnansweredCause? { if case .unanswered(let cause, _) = self { cause } else { nil } }
}
