package import EventLoop
import Glibc
package import TLS

/// Opens connections to one APNs. The calls block, so they belong on helper threads.
package final class APNSConnector: Sendable {
    /// The most time that a connect spends on one address.
    private static let addressTimeout = Duration.seconds(10)
    /// How long written bytes may stay unacknowledged before the system closes the connection, in milliseconds.
    private static let userTimeout = 30_000

    /// Places for look-ups. A look-up that hangs holds the thread of its connect, with 2 MiB of address space.
    ///
    /// Look-ups of brokers have other places. So look-ups of Apple's hosts that hang prevent no connection to a broker.
    /// Healthy look-ups stay far below the limit, because connects begin at a limited pace.
    package static let lookUps = BlockingCall.Places(BlockingCall.mostAtOnce)

    /// The TLS errors for which the server counts as untrusted.
    private static let verificationFailures: Set<TLSError.Code> = [
        .certificateUntrusted, .certificateExpired, .hostNameMismatch,
    ]

    /// The APNs that connections lead to.
    package let endpoint: APNSEndpoint
    private let trust: TLSContext
    private let limiter: ConnectRateLimiter
    private let requiresALPN: Bool
    /// Looks a host up. Tests use another one.
    private let resolve: @Sendable (String, Int) throws(EventLoopError) -> [SocketAddress]
    /// Where look-ups are counted.
    private let places: BlockingCall.Places
    /// The proxy that connections go through; nil for direct connections.
    package let proxy: HTTPProxy?
    /// How long a caller should wait for `result(of:)`, because a look-up may hang for ever: 60 s and the request's
    /// timeout.
    package let patience: @Sendable (ConnectRequest) -> Duration

    /// A connector.
    ///
    /// - Parameters:
    ///   - endpoint: The APNs that connections lead to.
    ///   - trust: A client context that offers `h2`, for requests without a credential.
    ///   - limiter: The limiter of the whole process.
    ///   - requiresALPN: False to speak HTTP/2 even to servers that choose no protocol (prior knowledge).
    ///   - proxy: The proxy that connections go through; nil for direct connections. The server is verified in both
    ///     cases.
    package convenience init(
        endpoint: APNSEndpoint, trust: TLSContext, limiter: ConnectRateLimiter, requiresALPN: Bool = true,
        proxy: HTTPProxy? = nil
    ) {
        self.init(
            endpoint: endpoint, trust: trust, limiter: limiter, requiresALPN: requiresALPN, proxy: proxy,
            resolve: Resolver.addresses)
    }

    /// A connector with a look-up, places for it and a patience of its own; for tests.
    package init(
        endpoint: APNSEndpoint, trust: TLSContext, limiter: ConnectRateLimiter, requiresALPN: Bool = true,
        proxy: HTTPProxy? = nil, places: BlockingCall.Places = APNSConnector.lookUps,
        patience: @escaping @Sendable (ConnectRequest) -> Duration = { BlockingCall.patience + $0.timeout },
        resolve: @escaping @Sendable (String, Int) throws(EventLoopError) -> [SocketAddress]
    ) {
        self.resolve = resolve
        self.places = places
        self.patience = patience
        self.endpoint = endpoint
        self.trust = trust
        self.limiter = limiter
        self.requiresALPN = requiresALPN
        self.proxy = proxy
    }

    /// Lets a connect wait for the pace. `result(of:)` and `connect` do not wait for it. So hundreds of routes that
    /// wait to connect need no threads, and no name is looked up before its connect is due.
    ///
    /// - Parameter urgency: How much the connect is needed.
    /// - Returns: The connect's place in the line.
    package func enterLine(_ urgency: ConnectUrgency) -> ConnectPlace {
        limiter.enter(host: endpoint.host, urgency)
    }

    /// Opens the connection a pool asked for.
    ///
    /// - Parameter request: The pool's request.
    /// - Returns: The connection, or why it could not be made.
    package func result(of request: ConnectRequest) -> Result<EstablishedConnection, APNSClientError> {
        do throws(APNSClientError) {
            return .success(
                try connect(avoiding: request.avoiding, timeout: request.timeout, credential: request.credential))
        } catch {
            return .failure(error)
        }
    }

    /// Looks the host up afresh, and tries its addresses in random order. The addresses to avoid come last. With a
    /// proxy, the addresses are the proxy's, and the proxy looks the host up.
    ///
    /// - Parameters:
    ///   - avoiding: Addresses to use only if no other address works.
    ///   - timeout: How long this may take in all. The look-up counts, but has no limit of its own.
    ///   - credential: The credential for the connection; nil for none.
    /// - Returns: A connection that is ready for HTTP/2.
    /// - Throws: `APNSClientError` of the last address whose error somebody must correct, or else of the address tried
    ///   last. `unreachable` if the look-up fails. `timedOut` if no time is left after the look-up.
    package func connect(
        avoiding: Set<SocketAddress>, timeout: Duration, credential: APNSCredential? = nil
    ) throws(APNSClientError) -> EstablishedConnection {
        let deadline = MonotonicTime.now().adding(timeout)
        var failure = APNSClientError(.timedOut, "connecting to \(endpoint) took too long")
        for address in Self.order(try lookUp(), avoiding: avoiding) {
            let left = deadline.left
            guard left > .zero else { break }
            do throws(APNSClientError) {
                return try open(
                    address, context: credential?.context ?? trust,
                    deadline: .now().adding(min(left, Self.addressTimeout)))
            } catch {
                // A dead address must not hide an error that somebody must correct, such as a wrong certificate.
                if failure.isRetriable || !error.isRetriable { failure = error }
            }
        }
        throw failure
    }

    /// The order in which addresses are tried: random, but the addresses to avoid come last.
    static func order(_ addresses: [SocketAddress], avoiding: Set<SocketAddress>) -> [SocketAddress] {
        let shuffled = addresses.shuffled()
        return shuffled.filter { !avoiding.contains($0) } + shuffled.filter { avoiding.contains($0) }
    }

    private func lookUp() throws(APNSClientError) -> [SocketAddress] {
        do throws(EventLoopError) {
            return try places.hold { () throws(EventLoopError) -> [SocketAddress] in
                try resolve(proxy?.host ?? endpoint.host, proxy?.port ?? endpoint.port)
            }
        } catch {
            throw APNSClientError(.unreachable, proxy == nil ? error.message : "the proxy: \(error.message)")
        }
    }

    private func open(
        _ address: SocketAddress, context: TLSContext, deadline: MonotonicTime
    ) throws(APNSClientError) -> EstablishedConnection {
        let socket: Socket
        let session: TLSSession
        do throws(EventLoopError) {
            socket = try Socket.connect(to: address, timeout: deadline.left)
        } catch {
            let message = proxy.map { "the proxy \($0): \(error.message)" } ?? error.message
            throw APNSClientError(error.code == .timedOut ? .timedOut : .unreachable, message)
        }
        SocketOptions.setUserTimeout(socket.fileDescriptor, milliseconds: Self.userTimeout)
        SocketOptions.setKeepalive(socket.fileDescriptor, idle: 60, interval: 10, count: 3)
        if let proxy {
            try ProxyTunnel(proxy: proxy, endpoint: endpoint).open(over: socket, deadline: deadline)
        }
        do throws(TLSError) {
            session = try TLSSession(client: context, serverName: endpoint.host)
        } catch {
            throw APNSClientError(.tls, error.message)
        }
        try shakeHands(session, socket, address, deadline)
        switch session.negotiatedProtocol {
        case "h2": break
        case nil where !requiresALPN: break
        case nil: throw APNSClientError(.http2, "\(endpoint) at \(address) did not agree to HTTP/2 (no ALPN)")
        case let other?: throw APNSClientError(.http2, "\(endpoint) at \(address) speaks \(other), not HTTP/2")
        }
        return EstablishedConnection(socket, session: session, address: address)
    }

    private func shakeHands(
        _ session: TLSSession, _ socket: borrowing Socket, _ address: SocketAddress, _ deadline: MonotonicTime
    ) throws(APNSClientError) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        do {
            while true {
                let isDone: Bool
                do throws(TLSError) {
                    isDone = try session.handshake()
                } catch {
                    // The alert tells the server why. It does not matter whether it arrives.
                    try? send(session, socket, deadline)
                    throw error
                }
                try send(session, socket, deadline)
                if isDone { return }
                guard try socket.wait(for: .readable, timeout: deadline.left) else {
                    throw APNSClientError(.timedOut, "the TLS handshake with \(endpoint) at \(address) took too long")
                }
                switch try socket.read(into: &buffer) {
                case .bytes(let count): session.receive(buffer.span.extracting(0..<count))
                case .wouldBlock: break
                case .closed:
                    throw APNSClientError(.tls, "\(endpoint) at \(address) closed during the TLS handshake")
                }
            }
        } catch let error as APNSClientError {
            throw error
        } catch let error as TLSError {
            throw APNSClientError(Self.code(of: error), "\(endpoint) at \(address): \(error.message)")
        } catch {
            throw APNSClientError(.tls, "TLS handshake with \(endpoint) at \(address): \(error)")
        }
    }

    private static func code(of error: TLSError) -> APNSClientError.Code {
        if verificationFailures.contains(error.code) { return .untrusted }
        return error.code == .certificateRefused ? .credentialRefused : .tls
    }

    /// Writes all that the handshake wants to send.
    private func send(_ session: TLSSession, _ socket: borrowing Socket, _ deadline: MonotonicTime) throws {
        while session.pendingCiphertext > 0 {
            var taken = 0
            try session.withPendingCiphertext { bytes in
                taken = try socket.write(bytes)
                return taken
            }
            if taken == 0, try !socket.wait(for: .writable, timeout: deadline.left) {
                throw APNSClientError(.timedOut, "the TLS handshake with \(endpoint) took too long")
            }
        }
    }
}

extension MonotonicTime {
    /// The time left until this moment; zero if it has passed.
    var left: Duration { self - .now() }
}
