import EventLoop

/// The other end of a worker's connection: a broker, or APNs.
protocol CablePeer: AnyObject {
    /// Takes bytes of the worker.
    func receive(_ bytes: [UInt8])
    /// What the worker is to be sent.
    func takeOutput() -> [UInt8]
    /// Whether there may be something to be sent, or an end to be seen.
    var hasNews: Bool { get }
    /// Whether it closes the connection once its output is taken.
    var isClosed: Bool { get }
    /// The connection is gone.
    func cut()
}

extension ModelConnection: CablePeer {}

/// One connection of a worker. Bytes of either direction take their time, keep their order, and arrive in pieces.
final class Cable {
    private unowned let world: World
    private unowned let worker: ModelWorker
    private let peer: any CablePeer
    /// The world's end. The worker has the other one.
    private let socket: Socket
    /// The worker's end, for as long as the worker keeps it open.
    let workersEnd: Int32
    /// When the last bytes of each direction arrive.
    private var reachesPeer, reachesWorker: MonotonicTime
    /// What the socket did not take yet.
    private var unwritten: [UInt8] = []
    private(set) var isOpen = true
    /// Whether the cable swallows all bytes, of both directions.
    var isDeaf = false
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(_ world: World, from worker: ModelWorker, to peer: any CablePeer, ends: (worker: Int32, world: Int32)) {
        (self.world, self.worker, self.peer) = (world, worker, peer)
        socket = Socket(takingOwnershipOf: ends.world)
        workersEnd = ends.worker
        (reachesPeer, reachesWorker) = (world.now, world.now)
    }

    /// What it leads to, and how it is, for people.
    var description: String {
        (peer is ModelConnection ? "broker" : "APNs") + (isDeaf ? ", swallows everything" : "")
            + (hasEnded ? ", ended by the peer" : "")
    }

    // MARK: To the peer

    /// Takes what the worker has written.
    func collectFromWorker() {
        guard isOpen else { return }
        while true {
            switch try? socket.read(into: &buffer) {
            case .bytes(let count): send(Array(buffer[..<count]))
            case .wouldBlock: return writeRest()
            case .closed, nil: return workerClosed()
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        guard !isDeaf else { return }
        for piece in world.pieces(of: bytes) {
            reachesPeer = world.arrival(after: reachesPeer)
            world.at(reachesPeer) { [weak self] in
                guard let self, !hasEnded, !isDeaf else { return }
                peer.receive(piece)
            }
        }
    }

    private func workerClosed() {
        isOpen = false
        reachesPeer = world.arrival(after: reachesPeer)
        world.at(reachesPeer) { [weak self] in self?.endPeer() }
    }

    private func endPeer() {
        guard !hasEnded else { return }
        hasEnded = true
        peer.cut()
    }

    // MARK: To the worker

    /// Takes what the peer has to say.
    func collectFromPeer() {
        guard isOpen, !hasEnded, peer.hasNews else { return }
        let bytes = peer.takeOutput()
        for piece in isDeaf || bytes.isEmpty ? [] : world.pieces(of: bytes) {
            reachesWorker = world.arrival(after: reachesWorker)
            world.at(reachesWorker) { [weak self] in
                guard let self, isOpen, !isDeaf else { return }
                unwritten += piece
                writeRest()
            }
        }
        guard peer.isClosed else { return }
        hasEnded = true
        reachesWorker = world.arrival(after: reachesWorker)
        world.at(reachesWorker) { [weak self] in self?.hangUp() }
    }

    private func writeRest() {
        guard !unwritten.isEmpty else { return }
        let count = (try? socket.write(unwritten.span)) ?? unwritten.count
        unwritten.removeFirst(count)
        worker.wake()
    }

    /// The worker sees the end of the connection.
    private func hangUp() {
        guard isOpen else { return }
        isOpen = false
        SocketOptions.shutdown(socket.fileDescriptor)
        worker.wake()
    }

    // MARK: Faults

    /// Cuts the connection now, for both sides. What is on its way is lost.
    func cut() {
        hangUp()
        endPeer()
    }

    /// The worker has died: its system closes the socket.
    func workerDied() {
        collectFromWorker()
        if isOpen { workerClosed() }
    }
}
