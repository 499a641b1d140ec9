internal import CRabbitMQ
internal import EventLoop

extension AMQPConnection {
    // OpenSSL 3 initialises itself; the library's own way would tear down tables that others in the process use.
    private static let ownInitialisationIsOff: Void = amqp_set_initialize_ssl_library(0)

    /// Connects and completes the TLS handshake, with verification of chain and name inside it.
    ///
    /// The library cannot take over a connected socket here, so it is given the address, and the name to ask for and
    /// to check is set aside of it.
    ///
    /// - Parameter address: the address to connect to.
    /// - Throws: `tls`, `unreachable` or `timeout`.
    func dialTLS(_ address: SocketAddress) throws(AMQPError) {
        _ = Self.ownInitialisationIsOff
        guard let socket = amqp_ssl_socket_new(state) else {
            throw AMQPError(.tls, "TLS cannot be set up: out of memory")
        }
        let name = endpoint.serverName ?? endpoint.host
        let nameIsAddress = SocketAddress(name, port: 0) != nil
        let files = endpoint.tls
        let problem: AMQPError? = name.withCString { namePointer in
            var tls = crabbit_tls_t(server_name: nameIsAddress ? nil : namePointer, verify_error: 0)
            return withUnsafeMutablePointer(to: &tls) { tls in
                let step = files.caFile.withOptionalCString { ca in
                    files.certFile.withOptionalCString { cert in
                        files.keyFile.withOptionalCString { key in
                            crabbit_tls_prepare(socket, tls, ca, cert, key, namePointer, nameIsAddress ? 1 : 0)
                        }
                    }
                }
                defer { crabbit_tls_forget(socket) }
                if step != 0 { return self.preparationFailure(step) }
                return self.shakeHands(socket, address, tls)
            }
        }
        if let problem {
            isDead = true
            throw problem
        }
        fileDescriptor = amqp_get_sockfd(state)
    }

    private func shakeHands(
        _ socket: OpaquePointer, _ address: SocketAddress, _ tls: UnsafeMutablePointer<crabbit_tls_t>
    ) -> AMQPError? {
        var limit = timeval(endpoint.connectionTimeout)
        let status = amqp_socket_open_noblock(socket, address.host, Int32(endpoint.port), &limit)
        guard status != AMQP_STATUS_OK.rawValue else { return nil }
        let target = "\(endpoint.host) (\(address))"
        switch status {
        case AMQP_STATUS_SSL_CONNECTION_FAILED.rawValue, AMQP_STATUS_SSL_ERROR.rawValue,
            AMQP_STATUS_SSL_PEER_VERIFY_FAILED.rawValue, AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED.rawValue:
            if tls.pointee.verify_error != 0 {
                let text = String(cString: crabbit_verify_text(tls.pointee.verify_error))
                let hint = endpoint.tls.caFile == nil ? "; set the authority's file if it is a private one" : ""
                return AMQPError(.tls, "the certificate of \(target) is not acceptable: \(text)\(hint)")
            }
            let reason = crabbit_tls_reason().map { String(cString: $0) } ?? "the connection was closed"
            return AMQPError(.tls, "the TLS handshake with \(target) failed: \(reason)")
        case AMQP_STATUS_TIMEOUT.rawValue:
            return AMQPError(.timeout, "no TLS connection to \(target) within \(endpoint.connectionTimeout)")
        default:
            let text = String(cString: amqp_error_string2(status))
            return AMQPError(.unreachable, "cannot connect to \(target): \(text)")
        }
    }

    private func preparationFailure(_ step: Int32) -> AMQPError {
        let what =
            switch step {
            case 2: "the authorities' file \(endpoint.tls.caFile ?? "(system)") cannot be read"
            case 3: "the certificate file \(endpoint.tls.certFile ?? "") cannot be read"
            case 4: "the key file \(endpoint.tls.keyFile ?? "") cannot be read, or is encrypted"
            case 5: "certificate and key do not belong together"
            case 6: "the server name cannot be checked"
            default: "TLS 1.2 is not available"
            }
        let reason = crabbit_tls_reason().map { ": " + String(cString: $0) } ?? ""
        return AMQPError(.tls, what + reason)
    }
}
