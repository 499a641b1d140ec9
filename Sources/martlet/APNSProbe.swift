import EventLoop
import TLS

/// Tries how far one gets towards an APNs: name, connection, certificate, protocol. Nothing is sent.
enum APNSProbe {
    /// Where the way ended.
    struct Failure: Error {
        /// What happened.
        var detail: String
        /// What to do about it.
        var remedy: String
    }

    /// Connects once.
    /// - Parameters:
    ///   - address: `https://host:port`.
    ///   - trust: Who may vouch for the server.
    ///   - timeout: How long each step may take.
    /// - Returns: What was reached, in words.
    /// - Throws: The step that failed, with its remedy.
    static func reach(_ address: String, trust: TrustRoots, timeout: Duration) throws(Failure) -> String {
        let (host, port) = split(address)
        let addresses: [SocketAddress]
        do throws(EventLoopError) {
            addresses = try Resolver.addresses(host: host, port: port)
        } catch {
            throw Failure(detail: "\(error)", remedy: "Check the host name and this machine's DNS.")
        }
        var last: Failure?
        for candidate in addresses {
            do throws(Failure) {
                return try handshake(candidate, host: host, trust: trust, timeout: timeout)
            } catch {
                last = error
            }
        }
        throw last ?? Failure(detail: "\(host) has no address", remedy: "Check the host name and this machine's DNS.")
    }

    /// Host and port of an address that the configuration has checked.
    static func split(_ address: String) -> (host: String, port: Int) {
        let rest = address.hasPrefix("https://") ? address.dropFirst(8) : address[...]
        guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[rest.index(after: colon)...]) else {
            return (String(rest), 443)
        }
        let host = rest[..<colon]
        return (String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host), port)
    }

    /// Connects to one address and speaks TLS until both sides have agreed.
    private static func handshake(
        _ address: SocketAddress, host: String, trust: TrustRoots, timeout: Duration
    ) throws(Failure) -> String {
        let socket: Socket
        do throws(EventLoopError) {
            socket = try Socket.connect(to: address, timeout: timeout)
        } catch {
            throw Failure(detail: "\(error)", remedy: "Check that a firewall lets connections to \(address) out.")
        }
        do {
            let context = try TLSContext.client(trust: trust, identity: nil, applicationProtocols: ["h2"])
            let session = try TLSSession(client: context, serverName: host)
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while try !session.handshake() {
                try flush(session, socket, timeout: timeout)
                guard try socket.wait(for: .readable, timeout: timeout) else {
                    throw Failure(detail: "\(address) did not finish the TLS handshake in time", remedy: proxyHint)
                }
                switch try socket.read(into: &buffer) {
                case .bytes(let count): session.receive(buffer.span.extracting(0..<count))
                case .wouldBlock: continue
                case .closed:
                    throw Failure(detail: "\(address) closed the connection in the TLS handshake", remedy: proxyHint)
                }
            }
            guard session.negotiatedProtocol == "h2" else {
                throw Failure(detail: "\(address) does not speak HTTP/2", remedy: proxyHint)
            }
            return "\(address), \(session.protocolVersion), HTTP/2"
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                detail: "\(address): \(error)",
                remedy: "For a simulator or a proxy set apns.trust_file to its authority's certificate.")
        }
    }

    private static func flush(_ session: TLSSession, _ socket: borrowing Socket, timeout: Duration) throws {
        while session.pendingCiphertext > 0 {
            var sent = 0
            try session.withPendingCiphertext { bytes in
                sent = try socket.write(bytes)
                return sent
            }
            if sent == 0, try !socket.wait(for: .writable, timeout: timeout) { return }
        }
    }

    private static let proxyHint =
        "Something between here and APNs interferes: a proxy that opens TLS, or a wrong port."
}
