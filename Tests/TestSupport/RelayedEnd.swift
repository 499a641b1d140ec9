import EventLoop
import Glibc

/// One of the two sockets: what it reads leaves by the other when its time has come.
final class RelayedEnd: ReadinessHandler {
    /// Bytes on their way out by this socket; none at all stand for the end of the stream.
    private struct Parcel {
        var bytes: ArraySlice<UInt8>
        var due: MonotonicTime
    }

    /// The other socket.
    weak var other: RelayedEnd?
    /// Both sockets.
    weak var connection: RelayedConnection?
    /// The socket, -1 once it is closed.
    private var descriptor: Int32
    /// The way of what is read here.
    private let direction: FaultProxy.Direction
    private unowned let relay: FaultRelay
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var parcels: [Parcel] = []
    private var held = 0
    /// When the line, whose width may be limited, has room for the next bytes.
    private var lineFree = MonotonicTime(nanoseconds: 0)
    private var hasRead = false
    private var hasWritten = false
    private var awaitsRoom = false
    private var interest: Readiness = []
    private var timer: TimerID?

    /// Takes over a socket, which is not watched yet.
    init(_ socket: consuming Socket, sends direction: FaultProxy.Direction, relay: FaultRelay) {
        descriptor = socket.release()
        self.direction = direction
        self.relay = relay
    }

    deinit { end(withReset: false) }

    /// Reads or writes.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        if readiness.contains(.writable) { awaitsRoom = false }
        step(now)
    }

    private var isStalled: Bool { relay.conditions.stalled.contains(direction) }
    private var mayRead: Bool { !hasRead && !isStalled && (other?.held ?? 0) < FaultProxy.highWater }

    /// Does whatever can be done now, and waits for the rest.
    ///
    /// - Parameter now: The time.
    func step(_ now: MonotonicTime) {
        // Whoever ends the connection on the way lets go of it: it has to live until the last line.
        let connection = connection
        write(now)
        read(now)
        wait()
        withExtendedLifetime(connection) {}
    }

    private func read(_ now: MonotonicTime) {
        var hasDelivered = false
        while descriptor >= 0, mayRead {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                return connection?.end(withReset: true) ?? ()
            }
            if count == 0 { hasRead = true } else { connection?.heard(now) }
            other?.parcels.append(
                Parcel(bytes: ArraySlice(Array(buffer[..<count])), due: now.adding(relay.conditions.delay)))
            other?.held += count
            hasDelivered = true
        }
        guard hasDelivered else { return }
        other?.write(now)
        other?.wait()
    }

    private func write(_ now: MonotonicTime) {
        while descriptor >= 0, !awaitsRoom, other?.isStalled == false, let first = parcels.first {
            let due = max(first.due, lineFree)
            guard due <= now else { return wake(at: due) }
            if first.bytes.isEmpty {
                parcels = []
                hasWritten = true
                SocketOptions.shutdownSending(descriptor)
                if other?.hasWritten == true { connection?.end(withReset: false) }
                return
            }
            let conditions = relay.conditions
            var most = conditions.slice ?? .max
            // A twentieth of a second's worth at a time, so that a narrow line is slow and not jerky.
            if let rate = conditions.bytesPerSecond { most = min(most, max(1, rate / 20)) }
            let piece = Array(first.bytes.prefix(most))
            let count = send(descriptor, piece, piece.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else {
                guard errno == EAGAIN || errno == EINTR else { return connection?.end(withReset: true) ?? () }
                awaitsRoom = true
                return
            }
            held -= count
            parcels[0].bytes = first.bytes.dropFirst(count)
            if parcels[0].bytes.isEmpty { parcels.removeFirst() }
            if let rate = conditions.bytesPerSecond {
                lineFree = now.adding(.nanoseconds(Int64(count) * 1_000_000_000 / Int64(max(1, rate))))
            }
            // A slice becomes a segment of its own only when the next one follows later.
            if conditions.slice != nil { return wake(at: now) }
        }
    }

    private func wake(at time: MonotonicTime) {
        guard timer == nil else { return }
        timer = relay.loop.schedule(at: time) { [weak self] now in
            guard let self else { return }
            timer = nil
            step(now)
            // There may be room again for what the other end reads.
            other?.step(now)
        }
    }

    private func wait() {
        guard descriptor >= 0 else { return }
        var wanted: Readiness = []
        if mayRead { wanted.insert(.readable) }
        if awaitsRoom { wanted.insert(.writable) }
        guard wanted != interest else { return }
        // A socket from which nothing is wanted would report its hang-up again and again: it is not watched at all.
        if interest.isEmpty {
            try? relay.loop.watch(descriptor, for: wanted, handler: self)
        } else if wanted.isEmpty {
            relay.loop.unwatch(descriptor)
        } else {
            try? relay.loop.change(descriptor, to: wanted)
        }
        interest = wanted
    }

    /// Closes the socket.
    ///
    /// - Parameter isReset: Whether the peer sees a reset, or an ordinary end.
    func end(withReset isReset: Bool) {
        guard descriptor >= 0 else { return }
        if !interest.isEmpty { relay.loop.unwatch(descriptor) }
        if let timer { relay.loop.cancel(timer) }
        if isReset { FaultRelay.resetOnClose(descriptor) }
        Glibc.close(descriptor)
        descriptor = -1
        parcels = []
    }
}
