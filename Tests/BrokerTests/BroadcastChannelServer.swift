import EventLoop
import Synchronization
import TLS
import TestSupport

/// An APNs that serves device pushes, broadcasts and broadcast channel management on one port, in Apple's wire format,
/// on a thread of its own.
final class BroadcastChannelServer: Sendable {
    /// A request as it came.
    struct Request: Sendable {
        var headers: [String: String]
        var body: String

        /// Method and path.
        var line: String { "\(headers[":method"] ?? "") \(headers[":path"] ?? "")" }
    }

    /// What is answered.
    struct Response: Sendable {
        var status: Int
        var headers: [(String, String)] = []
        var body = ""
        /// The debug data of a GOAWAY that covers no request at all, instead of the response; nil for none.
        var farewell: String?
    }

    /// Decides about a request from it and from how many came before; nil for no answer at all.
    typealias Script = @Sendable (Request, Int) -> Response?

    /// What the server's thread and the test share.
    final class Shared: Sendable {
        let requests = Mutex<[Request]>([])
        let connections = Mutex(0)
        let script: Script

        init(_ script: @escaping Script) { self.script = script }
    }

    let port: Int
    /// The certificate that vouches for it, PEM.
    let authority: String
    private let shared: Shared
    private let mailbox: Mailbox<Bool>
    private let thread: LoopThread

    init(_ script: @escaping Script) throws {
        let certificates = try ThrowawayCertificates()
        authority = String(decoding: certificates.authority.certificatePEM, as: UTF8.self)
        let shared = Shared(script)
        let server = try BroadcastChannelServerLoop(context: try certificates.serverContext(), shared: shared)
        self.shared = shared
        port = server.port
        mailbox = server.mailbox
        thread = try LoopThread.start(name: "broadcasts") { server.run() }
    }

    /// What came so far.
    var requests: [Request] { shared.requests.withLock { $0 } }

    /// How many connections were made so far.
    var connections: Int { shared.connections.withLock { $0 } }

    /// Ends the thread.
    func stop() {
        mailbox.post(true)
        thread.join()
    }
}
