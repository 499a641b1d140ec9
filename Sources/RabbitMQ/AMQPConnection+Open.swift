internal import CRabbitMQ
package import EventLoop
internal import Glibc

extension AMQPConnection {
    /// Connects and logs in, blocking; for helper threads.
    ///
    /// - Parameters:
    ///   - endpoint: where to connect and how to log in.
    ///   - address: the address to use; nil looks the host up and tries each address in turn.
    ///   - clientName: the name operators see in the broker's list of connections.
    ///   - clientVersion: the version they see.
    ///   - bodyLimit: the largest body that is buffered, in bytes.
    ///   - receiveLimit: the largest frame accepted, where that is more than the negotiated limit; for connections
    ///     that consume, because a broker exceeds the limit when it adds headers to a redelivered message.
    /// - Returns: a connection that no thread owns yet.
    /// - Throws: `unresolved`, `unreachable`, `tls`, `refused` or `timeout`.
    package static func open(
        _ endpoint: AMQPEndpoint, address: SocketAddress? = nil, clientName: String, clientVersion: String = "",
        bodyLimit: Int, receiveLimit: Int = 0
    ) throws(AMQPError) -> AMQPConnection {
        var failure = AMQPError(.unresolved, "the host \(endpoint.host) has no address")
        let candidates = if let address { [address] } else { try resolve(endpoint) }
        for candidate in candidates {
            let connection = try AMQPConnection(endpoint: endpoint, bodyLimit: bodyLimit)
            do throws(AMQPError) {
                if endpoint.useTLS { try connection.dialTLS(candidate) } else { try connection.dial(candidate) }
                try connection.logIn(clientName: clientName, clientVersion: clientVersion)
                try connection.settle(receiveLimit: receiveLimit)
                return connection
            } catch {
                // Another address leads to the same broker or cluster: its refusal would only be repeated.
                guard error.code == .unreachable || error.code == .timeout || error.code == .connectionLost else {
                    throw error
                }
                failure = error
            }
        }
        throw failure
    }

    private static func resolve(_ endpoint: AMQPEndpoint) throws(AMQPError) -> [SocketAddress] {
        do {
            return try Resolver.addresses(host: endpoint.host, port: endpoint.port)
        } catch {
            throw AMQPError(.unresolved, "cannot look up \(endpoint.host): \(error.message)")
        }
    }

    private func dial(_ address: SocketAddress) throws(AMQPError) {
        let descriptor: Int32
        do {
            descriptor = try Socket.connect(to: address, timeout: endpoint.connectionTimeout).release()
        } catch {
            throw AMQPError(.unreachable, "cannot connect to \(endpoint.host) (\(address)): \(error.message)")
        }
        try adopt(owned: descriptor)
    }

    /// Takes over a connected socket, which must not block; it is closed with the connection, or here on failure.
    ///
    /// - Parameter descriptor: the socket.
    /// - Throws: `library` if there is no memory.
    func adopt(owned descriptor: Int32) throws(AMQPError) {
        guard let socket = amqp_tcp_socket_new(state) else {
            Glibc.close(descriptor)
            throw AMQPError(.library, "out of memory")
        }
        amqp_tcp_socket_set_sockfd(socket, descriptor)
        fileDescriptor = descriptor
    }

    /// Logs in with our capabilities, blocking.
    ///
    /// - Parameters:
    ///   - clientName: the name operators see.
    ///   - clientVersion: the version they see.
    /// - Throws: `refused`, `timeout` or what else became of the connection.
    func logIn(clientName: String, clientVersion: String) throws(AMQPError) {
        var limit = timeval(endpoint.connectionTimeout)
        guard amqp_set_handshake_timeout(state, &limit) == 0, amqp_set_rpc_timeout(state, &limit) == 0 else {
            throw AMQPError(.library, "rabbitmq-c refused the timeout")
        }
        let user = endpoint.saslExternal ? nil : endpoint.user
        let reply = user.withOptionalCString { user in
            crabbit_login(
                state, endpoint.virtualHost, Int32(endpoint.channelMax), Int32(endpoint.frameMax),
                Int32(endpoint.heartbeat), clientName, clientVersion, user, endpoint.password)
        }
        guard reply.reply_type != AMQP_RESPONSE_NORMAL else { return }
        isDead = true
        throw loginFailure(reply)
    }

    private func loginFailure(_ reply: amqp_rpc_reply_t) -> AMQPError {
        let who = endpoint.saslExternal ? "the client certificate" : "user \(endpoint.user)"
        let what = "\(who) on virtual host \(endpoint.virtualHost) of \(endpoint.host):\(endpoint.port)"
        if reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION {
            guard reply.reply.id == Method.connectionClose, let decoded = reply.reply.decoded else {
                return AMQPError(.protocolViolation, "the broker answered the login of \(what) unexpectedly")
            }
            let close = decoded.load(as: amqp_connection_close_t.self)
            let text = String(decoding: UnsafeRawBufferPointer(close.reply_text), as: UTF8.self)
            let isRefusal = close.reply_code == 403 || close.reply_code == 530
            return AMQPError(
                isRefusal ? .refused : .connectionClosed, "the broker refused \(what): \(text)",
                replyCode: close.reply_code)
        }
        switch reply.library_error {
        case AMQP_STATUS_CONNECTION_CLOSED.rawValue, AMQP_STATUS_SOCKET_CLOSED.rawValue:
            return AMQPError(
                .connectionLost, "the connection was closed during the login of \(what); is this an AMQP 0-9-1 port?")
        case AMQP_STATUS_TIMEOUT.rawValue:
            return AMQPError(.timeout, "no answer to the login of \(what) within \(endpoint.connectionTimeout)")
        case AMQP_STATUS_BROKER_UNSUPPORTED_SASL_METHOD.rawValue:
            let mechanism = endpoint.saslExternal ? "EXTERNAL" : "PLAIN"
            return AMQPError(.refused, "the broker does not offer the \(mechanism) login that \(what) needs")
        case AMQP_STATUS_SSL_ERROR.rawValue:
            // With TLS 1.3 a server refuses the client's certificate only after the handshake, and its reason is lost
            // where the end of the connection overtakes it.
            let guess = "it may \(endpoint.tls.certFile == nil ? "want a" : "not trust the") client certificate"
            let reason = crabbit_tls_reason().map { String(cString: $0) } ?? "the broker gave no reason; \(guess)"
            return AMQPError(.tls, "TLS failed during the login of \(what): \(reason)")
        default:
            return Self.error(reply.library_error, doing: "login of \(what)")
        }
    }

    /// Notes what was negotiated and sets the socket up for use without waiting.
    ///
    /// - Parameter receiveLimit: the largest frame accepted, where that is more than the negotiated limit.
    /// - Throws: `unsuitable` if the broker allows no frame that holds every message's properties, `library` if there is
    ///   no memory.
    func settle(receiveLimit: Int) throws(AMQPError) {
        frameMax = Int(amqp_get_frame_max(state))
        guard frameMax >= Self.smallestFrameMax else {
            throw AMQPError(
                .unsuitable,
                "the broker allows frames of \(frameMax) bytes, and some messages need \(Self.smallestFrameMax): raise "
                    + "frame_max in its configuration (131072 by default)")
        }
        channelMax = Int(amqp_get_channel_max(state))
        heartbeat = Int(amqp_get_heartbeat(state))
        if receiveLimit > frameMax {
            let status = amqp_tune_connection(state, Int32(channelMax), Int32(receiveLimit), Int32(heartbeat))
            guard status == AMQP_STATUS_OK.rawValue else { throw lost(status, doing: "raising the receive limit") }
            acceptsLargeFrames = true
        }
        SocketOptions.setKeepalive(fileDescriptor, idle: heartbeat, interval: max(1, heartbeat / 3), count: 3)
        restoreUserTimeout()
        // A fixed size: the largest the system grants. Left to itself it starts too small for one large message.
        SocketOptions.setSendBufferSize(fileDescriptor, bytes: 1 << 20)
        lastHeard = .now()
    }

    /// Lets the kernel give up on a peer that takes nothing for two heartbeats.
    func restoreUserTimeout() {
        SocketOptions.setUserTimeout(fileDescriptor, milliseconds: heartbeat * 2000)
    }
}

extension timeval {
    /// Rounds a duration to microseconds.
    ///
    /// - Parameter duration: the duration.
    init(_ duration: Duration) {
        let parts = duration.components
        self.init(tv_sec: Int(parts.seconds), tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
    }
}

extension String? {
    /// Lends the text as a C string, or NULL.
    ///
    /// - Parameter body: must not let the pointer escape.
    /// - Returns: what `body` returns.
    func withOptionalCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let self else { return body(nil) }
        return self.withCString(body)
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a string of the library.
    ///
    /// - Parameter bytes: the string; it must outlive this view.
    @inline(__always)
    init(_ bytes: amqp_bytes_t) { self.init(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len) }
}
