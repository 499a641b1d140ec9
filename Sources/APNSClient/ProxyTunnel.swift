import EventLoop

/// Makes a tunnel through an HTTP proxy on a connected socket. The calls block, so they belong on helper threads.
struct ProxyTunnel {
    /// The proxy at the other end of the socket.
    let proxy: HTTPProxy
    /// Where the tunnel leads.
    let endpoint: APNSEndpoint

    /// Asks for the tunnel and waits until it is open.
    ///
    /// - Parameters:
    ///   - socket: Connected to the proxy. Afterwards it leads to the server.
    ///   - deadline: When to give up.
    /// - Throws: `APNSClientError` with the code `proxy`, `proxyDenied` or `timedOut`. Its text never holds user or
    ///   password.
    func open(over socket: borrowing Socket, deadline: MonotonicTime) throws(APNSClientError) {
        do {
            try send(over: socket, deadline)
            var machine = ProxyTunnelStateMachine()
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                guard try socket.wait(for: .readable, timeout: deadline.left) else { throw tooSlow }
                switch try socket.read(into: &buffer) {
                case .wouldBlock: continue
                case .closed:
                    throw APNSClientError(.proxy, "the proxy \(proxy) closed the connection instead of answering")
                case .bytes(let count):
                    switch machine.receive(buffer.span.extracting(0..<count)) {
                    case .needsMore: continue
                    case .open: return
                    case .refused(let status):
                        throw ProxyTunnelStateMachine.error(status: status, from: proxy, to: endpoint)
                    case .malformed(let why): throw APNSClientError(.proxy, "\(proxy) is not an HTTP proxy: \(why)")
                    }
                }
            }
        } catch let error as APNSClientError {
            throw error
        } catch let error as EventLoopError {
            throw APNSClientError(.proxy, "the connection to the proxy \(proxy) broke: \(error.message)")
        } catch {
            throw APNSClientError(.proxy, "the connection to the proxy \(proxy) broke: \(error)")
        }
    }

    private func send(over socket: borrowing Socket, _ deadline: MonotonicTime) throws {
        let request = ProxyTunnelStateMachine.request(to: endpoint, credentials: proxy.credentials)
        var sent = 0
        while sent < request.count {
            let taken = try socket.write(request.span.extracting(sent..<request.count))
            sent += taken
            if taken == 0, try !socket.wait(for: .writable, timeout: deadline.left) { throw tooSlow }
        }
    }

    private var tooSlow: APNSClientError {
        APNSClientError(.timedOut, "the proxy \(proxy) took too long to make a tunnel")
    }
}
