import APNSSimulator
import EventLoop
import TLS
import TestSupport

@testable import APNSClient
@testable import APNSSimulator

/// APNs in a world: the simulator's rules and sessions, on cables.
///
/// TLS is real on both ends, but its handshake takes no time: nothing in a worker can leave TLS out.
final class ModelAPNs {
    /// The rules and the ledger.
    let service: PushService
    private let parts = WorldParts.shared
    private unowned let world: World
    private var connections = 0
    private var peers: [Weak] = []

    private struct Weak { weak var value: APNSPeer? }

    /// Whether connects fail.
    var refusesConnects = false
    /// How often a worker opened more streams than it may.
    fileprivate(set) var violations = 0

    init(_ world: World, seed: UInt64) {
        self.world = world
        var configuration = SimulatorConfiguration(stateDirectory: "")
        configuration.environment = .production
        configuration.acceptsAnyKey = true
        configuration.ledgerCapacity = 1_000_000
        configuration.scenario.seed = seed
        let time = world.time
        service = PushService(configuration: configuration, clock: VirtualClock(wall: { time.truth }))
    }

    /// Sends all connections away. Requests that arrived are answered.
    func sendAway() {
        for peer in peers { peer.value?.leave() }
        peers.removeAll { $0.value?.isClosed ?? true }
    }

    /// Connects a worker.
    func connect(_ worker: ModelWorker, _ request: ConnectRequest) throws(APNSClientError) -> EstablishedConnection {
        guard !refusesConnects else { throw APNSClientError(.unreachable, "connecting to the model") }
        do {
            let client = try TLSSession(client: request.credential?.context ?? parts.client, serverName: "localhost")
            let server = try TLSSession(server: parts.server)
            while try !Self.handshake(client, server) {}
            connections += 1
            let peer = try APNSPeer(world, service, number: connections, tls: server)
            peers.append(Weak(value: peer))
            let socket = try worker.plug(into: peer)
            return EstablishedConnection(socket, session: client, address: .loopback(port: 443))
        } catch let error as APNSClientError {
            throw error
        } catch {
            throw APNSClientError(.tls, "\(error)")
        }
    }

    /// Carries the handshake on. Returns whether both sides are done.
    private static func handshake(_ client: TLSSession, _ server: TLSSession) throws -> Bool {
        let isClientDone = try client.handshake()
        carry(client, to: server)
        let isServerDone = try server.handshake()
        // With the tickets for later sessions, whose length varies.
        carry(server, to: client)
        return isClientDone && isServerDone
    }

    private static func carry(_ one: TLSSession, to other: TLSSession) {
        one.withPendingCiphertext { bytes in
            other.receive(bytes)
            return bytes.count
        }
    }
}

/// APNs' end of one connection.
private final class APNSPeer: CablePeer, GatewayCarrier {
    private unowned let world: World
    private let tls: TLSSession
    private var session: PushSession?
    private(set) var isClosed = false
    private(set) var hasNews = true
    private var isEnding = false
    private var isFrozen = false
    private var plaintext = [UInt8](repeating: 0, count: 16_384)
    /// What arrived while the connection was frozen.
    private var unread: [UInt8] = []

    init(_ world: World, _ service: PushService, number: Int, tls: TLSSession) throws {
        (self.world, self.tls) = (world, tls)
        let (plan, limits) = service.plan(for: "127.0.0.1", client: "127.0.0.1")
        session = try PushSession(
            ConnectionFacts(number: number, plan: plan, limits: limits), service: service, carrier: self)
    }

    func receive(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        hasNews = true
        guard !isFrozen else { return unread += bytes }
        do {
            tls.receive(bytes.span)
            while !isClosed {
                switch try tls.read(into: &plaintext) {
                case .bytes(let count): try session?.receive(plaintext.span.extracting(0..<count))
                case .needsInput: return
                case .closed: isClosed = true
                }
            }
        } catch {
            isClosed = true
        }
    }

    func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        hasNews = false
        guard !isFrozen, let session else { return output }
        var frames: [UInt8] = []
        while session.wantsToSend {
            frames.removeAll(keepingCapacity: true)
            do {
                try session.send(into: &frames, upTo: 16_384)
                guard !frames.isEmpty else { break }
                noteViolation(in: frames)
                try tls.write(frames.span)
            } catch {
                isClosed = true
                break
            }
        }
        tls.withPendingCiphertext { bytes in
            bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
            return bytes.count
        }
        if session.isFinished || isEnding { isClosed = true }
        return output
    }

    func cut() { isClosed = true }

    /// Notes a GOAWAY because of too many streams. A frame begins with its length, its type and its flags (RFC 9113,
    /// section 4.1).
    private func noteViolation(in frames: [UInt8]) {
        var position = 0
        while position + 9 <= frames.count {
            let size = frames[position..<position + 3].reduce(0) { $0 << 8 | Int($1) }
            let end = min(position + 9 + size, frames.count)
            if frames[position + 3] == 7, frames[position..<end].contains(PushSession.excessStreamText.utf8) {
                world.apns.violations += 1
            }
            position += 9 + size
        }
    }

    /// Says goodbye.
    func leave() {
        hasNews = true
        session?.leave(Verdict.GoAway(reach: .accepted))
    }

    // MARK: What the session asks for

    func later(milliseconds: Int, _ action: @escaping () -> Void) {
        world.at(world.now + .milliseconds(milliseconds)) { [weak self] in
            guard let self, !isClosed else { return }
            hasNews = true
            action()
        }
    }

    func take(_ arrival: Arrival, completion: @escaping (Bool) -> Void) { completion(true) }

    func end() { isEnding = true }

    func close() { isClosed = true }

    func freeze(milliseconds: Int?) {
        guard !isFrozen else { return }
        isFrozen = true
        guard let milliseconds else { return }
        later(milliseconds: milliseconds) { [weak self] in
            guard let self else { return }
            isFrozen = false
            let bytes = unread
            unread = []
            receive(bytes)
        }
    }
}
