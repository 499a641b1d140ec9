import APNSClient
import ArgumentParser
import EventLoop
import Glibc
import PushModel
import Rig
import TLS

/// `martlet bench-sending`: measures the sending side alone, without a broker. `make bench` compares it with h2load.
struct BenchSendingCommand: ParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "bench-sending", abstract: "Measure the CPU per push of the sending side alone.",
        shouldDisplay: false)

    @Option(help: "The server, https://host:port.")
    var url: String

    @Option(help: "A PEM file that vouches for the server.")
    var trust: String

    @Option(help: "A .p8 file to sign provider tokens with.")
    var key: String

    @Option(help: "The device token.")
    var token: String

    @Option(help: "How many pushes.")
    var count = 100_000

    @Option(help: "The payload's length in bytes.")
    var bytes = 280

    @Option(help: "How many connections, or 0 to let their number follow the load.")
    var connections = 1

    /// Pushes as fast as the connections take pushes. Then it prints the CPU per push in microseconds, the throughput
    /// in pushes per second, and how many connections are open at the end.
    func run() throws {
        let endpoint = try APNSEndpoint.parse(url)
        let context = try TLSContext.client(
            trust: TrustRoots(systemRoots: false, files: [trust]), identity: nil, applicationProtocols: ["h2"])
        let loop = try EventLoop()
        let driver = SendingDriver(
            connector: APNSConnector(endpoint: endpoint, trust: context, limiter: ConnectRateLimiter()),
            job: try job(), count: count)
        let tokens = ProviderTokenSource(
            keyID: "ABC1234567", teamID: "DEF7654321", key: try ES256PrivateKey(file: key))
        let pool = APNSPool(
            configuration: APNSPoolConfiguration(connections: connections > 0 ? connections : nil), loop: loop,
            endpoint: endpoint,
            credential: APNSCredential(name: "bench", context: context, tokens: tokens), delegate: driver)
        while driver.answered < count {
            let now = try loop.turn(waitingAtMost: .seconds(5))
            driver.advance(pool, now: now)
        }
        let microseconds = (driver.cpuNow() - driver.cpuAtStart) * 1e6 / Double(count - 1)
        Console.data(
            "\(Double(Int(microseconds * 1_000)) / 1_000) us/push, \(driver.failed) not accepted, "
                + "\(Int(driver.steadyRate)) pushes/s in the second half, \(pool.status.open) connections")
        pool.close()
    }

    private func job() throws -> Job {
        let payload = #"{"aps":{"alert":{"title":"Order shipped","body":""#
        let body = payload + String(repeating: "x", count: max(0, bytes - 4 - payload.utf8.count)) + "\"}}}"
        let envelope = EnvelopedBody.text(
            id: "eabeae54-14a8-11e5-b60b-1697f925ec7b", tokens: [token], payload: body)
        let key = Array("development.normal.com.example.bench".utf8)
        let type = Array("\(MessageName.jsonContentType)".utf8)
        let bytes = key + type + Array(envelope.utf8)
        let message = JobMessage(
            bytes: bytes, routingKey: 0..<key.count, contentType: key.count..<key.count + type.count,
            body: key.count + type.count..<bytes.count)
        return try JobDecoder().decode(message, now: 0, random: { 0 }).get()
    }
}

/// Keeps a pool full until everything is answered.
private final class SendingDriver: APNSPoolDelegate {
    private let connector: APNSConnector
    private let job: Job
    private let count: Int
    private var submitted = 0
    private var free: [Int] = []
    private var established: (ConnectRequest, Result<EstablishedConnection, APNSClientError>)?
    private(set) var answered = 0
    private(set) var failed = 0
    private(set) var cpuAtStart = 0.0
    private var middle: MonotonicTime?
    private var end: MonotonicTime?

    /// Answers per second in the second half, when all connections are open.
    var steadyRate: Double {
        guard let middle, let end, end > middle else { return 0 }
        return Double(count - count / 2) / ((end - middle) / .seconds(1))
    }

    init(connector: APNSConnector, job: Job, count: Int) {
        self.connector = connector
        self.job = job
        self.count = count
    }

    /// Seconds of CPU this process has used.
    func cpuNow() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// One turn: adopt a connection, submit what fits, write.
    func advance(_ pool: APNSPool, now: MonotonicTime) {
        if let (request, result) = established {
            established = nil
            switch result {
            case .success(let connection): pool.adopt(connection, for: request, now: now)
            case .failure(let error): pool.connectFailed(error, for: request, now: now)
            }
        }
        // The first answer ends the connection's cautious beginning. The clock starts only then.
        if answered >= 1, cpuAtStart == 0 { cpuAtStart = cpuNow() }
        var room = answered == 0 ? min(1 - submitted, pool.capacity) : pool.capacity
        while room > 0, submitted < count {
            let tag = free.popLast() ?? submitted
            guard pool.submit(job, index: 0, tag: tag, now: now) else { return }
            submitted += 1
            room -= 1
        }
        pool.flush(now: now, hasBacklog: submitted < count)
    }

    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime) {
        answered += 1
        if answered == count / 2 { middle = now }
        if answered == count { end = now }
        free.append(tag)
        if case .response(let response) = answer, response.answer.meaning.isAccepted { return }
        failed += 1
    }

    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest) {
        established = (request, connector.result(of: request))
    }

    func poolCapacityChanged(_ pool: APNSPool) {}
}
