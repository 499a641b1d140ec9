import EventLoop
import Glibc
import Testing

@Suite("Sockets", .timeLimit(.minutes(1)))
struct SocketTests {
    @Test("connect, know each other's address, carry bytes both ways and close", arguments: ["127.0.0.1", "::1"])
    func connect(host: String) throws {
        let listener = try Listener(address: try #require(SocketAddress(host, port: 0)))
        #expect(listener.address.port != 0)
        #expect(try listener.accept() == nil)
        let client = try Socket.connect(to: listener.address, timeout: .seconds(10))
        let server = try Self.accepted(listener)
        #expect(client.remoteAddress == listener.address)
        #expect(server.remoteAddress == client.localAddress)

        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try server.read(into: &buffer) == .wouldBlock)
        #expect(try client.write([1, 2, 3].span) == 3)
        #expect(try server.wait(for: .readable, timeout: .seconds(10)))
        #expect(try server.read(into: &buffer) == .bytes(3))
        #expect(buffer[..<3] == [1, 2, 3])
        SocketOptions.shutdownSending(server.fileDescriptor)
        #expect(try client.wait(for: .readable, timeout: .seconds(10)))
        #expect(try client.read(into: &buffer) == .closed)
    }

    @Test("a refused connection names the address and may be tried again")
    func refused() throws {
        let address: SocketAddress
        do {
            let listener = try Listener(address: .loopback(port: 0))
            address = listener.address
        }
        let error = #expect(throws: EventLoopError.self) {
            _ = try Socket.connect(to: address, timeout: .seconds(10))
        }
        #expect(error?.code == .connectFailed)
        #expect(error?.errno == ECONNREFUSED)
        #expect(error?.isRetriable == true)
        #expect(error?.message.contains(address.description) == true)
    }

    @Test("a connection nobody answers ends with the time allowed")
    func timeout() throws {
        // The queue of a listener that never accepts fills up; then the system ignores who knocks.
        let listener = try Listener(address: .loopback(port: 0), backlog: 0)
        var open: [Int32] = []
        defer { open.forEach { close($0) } }
        var failure: EventLoopError?
        for _ in 0..<8 where failure == nil {
            do throws(EventLoopError) {
                open.append(try Socket.connect(to: listener.address, timeout: .milliseconds(50)).release())
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .timedOut)
        #expect(failure?.isRetriable == true)
    }

    @Test("a port that is taken cannot be listened on")
    func taken() throws {
        let listener = try Listener(address: .loopback(port: 0))
        let address = listener.address
        let error = #expect(throws: EventLoopError.self) { _ = try Listener(address: address) }
        #expect(error?.code == .listenFailed)
        #expect(error?.errno == EADDRINUSE)
    }

    @Test("a full send buffer takes nothing more until the peer has read")
    func fullBuffer() throws {
        let listener = try Listener(address: .loopback(port: 0))
        let client = try Socket.connect(to: listener.address, timeout: .seconds(10))
        let server = try Self.accepted(listener)
        let block = [UInt8](repeating: 0, count: 1 << 20)
        var written = 0
        while true {
            let count = try client.write(block.span)
            if count == 0 { break }
            written += count
        }
        #expect(try !client.wait(for: .writable, timeout: .zero))

        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var received = 0
        while received < written {
            #expect(try server.wait(for: .readable, timeout: .seconds(10)))
            if case .bytes(let count) = try server.read(into: &buffer) { received += count }
        }
        #expect(received == written)
        #expect(try client.wait(for: .writable, timeout: .seconds(10)))
    }

    @Test("writing to a peer that is gone is an error, not a signal")
    func brokenPipe() throws {
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        close(ends.1)
        let error = #expect(throws: EventLoopError.self) { _ = try socket.write([1].span) }
        #expect(error?.code == .connectionLost)
        #expect(error?.errno == EPIPE)
        #expect(error?.isRetriable == true)
    }

    @Test("going out of scope closes, release does not")
    func ownership() throws {
        let ends = try Socket.descriptorPair()
        let other = Socket(takingOwnershipOf: ends.1)
        var buffer = [UInt8](repeating: 0, count: 1)
        let released: Int32
        do {
            let socket = Socket(takingOwnershipOf: ends.0)
            released = socket.release()
        }
        #expect(try other.read(into: &buffer) == .wouldBlock)
        do { _ = Socket(takingOwnershipOf: released) }
        #expect(try other.read(into: &buffer) == .closed)
    }

    @Test("shutting down wakes whoever waits on the descriptor")
    func shutdown() throws {
        let ends = try Socket.descriptorPair()
        let socket = Socket(takingOwnershipOf: ends.0)
        defer { close(ends.1) }
        let number = socket.fileDescriptor
        let thread = try LoopThread.start(name: "watchdog") { SocketOptions.shutdown(number) }
        #expect(try socket.wait(for: .readable, timeout: .seconds(50)))
        thread.join()
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(try socket.read(into: &buffer) == .closed)
    }

    @Test("settings of a TCP socket take effect")
    func options() throws {
        let listener = try Listener(address: .loopback(port: 0))
        let client = try Socket.connect(to: listener.address, timeout: .seconds(10))
        let number = client.fileDescriptor
        SocketOptions.setUserTimeout(number, milliseconds: 12_345)
        SocketOptions.setKeepalive(number, idle: 31, interval: 7, count: 3)
        let tcp = Int32(IPPROTO_TCP)
        #expect(Self.option(number, tcp, TCP_NODELAY) == 1)
        #expect(Self.option(number, tcp, TCP_USER_TIMEOUT) == 12_345)
        #expect(Self.option(number, SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(Self.option(number, tcp, TCP_KEEPIDLE) == 31)
        #expect(Self.option(number, tcp, TCP_KEEPINTVL) == 7)
        #expect(Self.option(number, tcp, TCP_KEEPCNT) == 3)
        #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
        #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
    }

    private static func option(_ number: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, level, name, &value, &length) == 0 ? value : -1
    }

    /// Accepts the connection that was just made; it may take the kernel a moment to offer it.
    private static func accepted(_ listener: borrowing Listener) throws -> Socket {
        while true {
            var request = pollfd(fd: listener.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&request, 1, 10_000)
            if let socket = try listener.accept() { return socket }
        }
    }
}
