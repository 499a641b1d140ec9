import EventLoop
import WorkerSettings

/// One question to a worker's admin server: a GET over a connection of its own.
struct AdminQuestion {
    /// The most bytes of an answer: 4 MiB. A worker's `/readyz` has some 150 bytes for each route.
    static let longestAnswer = 4 << 20

    /// The path of the request, such as `/livez`.
    var path: String
    /// Where the server is.
    var place: ListenAddress

    /// Asks, and waits for the whole answer; blocks.
    ///
    /// - Parameter timeout: How long connection, request and answer may take in all.
    /// - Throws: `CommandFailure` where nothing answers, or the answer is not HTTP.
    func ask(within timeout: Duration) throws(CommandFailure) -> AdminAnswer {
        let deadline = MonotonicTime.now() + timeout
        let bytes: [UInt8]
        do throws(EventLoopError) {
            bytes = try exchange(until: deadline)
        } catch {
            // In one line: programs that run health checks often keep only one.
            throw CommandFailure(
                .someFailed,
                "the worker at \(place) does not answer: \(error.message); see whether it runs, and listens there")
        }
        guard let answer = AdminAnswer(reading: bytes) else {
            throw CommandFailure(.someFailed, "what listens at \(place) is not a worker: its answer is not HTTP")
        }
        return answer
    }

    private func exchange(until deadline: MonotonicTime) throws(EventLoopError) -> [UInt8] {
        // A worker on loopback answers only requests whose Host is this machine. Elsewhere the name does not matter.
        var request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)[...]
        let socket = try connect(until: deadline)
        while !request.isEmpty {
            try wait(for: .writable, socket, until: deadline)
            request = request.dropFirst(try socket.write(request.span))
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while answer.count < Self.longestAnswer {
            try wait(for: .readable, socket, until: deadline)
            switch try socket.read(into: &buffer) {
            case .bytes(let count): answer += buffer[..<count]
            case .wouldBlock: continue
            case .closed: return answer
            }
        }
        return answer
    }

    /// Connects to the first of the host's addresses that answers.
    private func connect(until deadline: MonotonicTime) throws(EventLoopError) -> Socket {
        var failure: EventLoopError?
        for address in try Resolver.addresses(host: place.host, port: place.port) {
            do throws(EventLoopError) {
                return try Socket.connect(to: address, timeout: deadline - .now())
            } catch {
                failure = error
            }
        }
        throw failure ?? EventLoopError.outOfTime
    }

    private func wait(
        for readiness: Readiness, _ socket: borrowing Socket, until deadline: MonotonicTime
    ) throws(EventLoopError) {
        guard try socket.wait(for: readiness, timeout: deadline - .now()) else { throw EventLoopError.outOfTime }
    }
}
