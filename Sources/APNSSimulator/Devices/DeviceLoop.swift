import EventLoop
import Logging
import TLS

/// The thread of the device port: its loop and all connections of devices.
final class DeviceLoop: ReadinessHandler, FramedConnectionOwner {
    /// How many devices may be connected. Further connections are closed at once.
    static let connectionLimit = 2048
    /// How long a change waits before it is written, in milliseconds. Many changes then cost one write.
    static let saveDelay: UInt64 = 100
    /// The delay before writing is tried again after a failure, in milliseconds.
    static let saveRetryDelay: UInt64 = 2000
    /// How often listeners of the admin API's events get a comment that shows that the connection is alive, in
    /// milliseconds.
    static let beatInterval: UInt64 = 10_000

    private struct Link {
        var connection: FramedConnection
        var device: DeviceID?
    }

    /// Where other threads leave messages.
    let mailbox: Mailbox<DevicePortMessage>

    private let service: DeviceService
    private let tls: TLSContext
    private let logger: Logger
    private let loop: EventLoop
    private let listener: Listener
    private var links: [Int: Link] = [:]
    private var nextNumber = 1
    private var isSaving = false
    private var isStopping = false

    /// Makes the loop; ``run()`` then belongs to its thread.
    ///
    /// - Parameters:
    ///   - service: What devices share.
    ///   - tls: The TLS settings.
    ///   - listener: Where devices connect.
    ///   - logger: Tells of trouble.
    /// - Throws: `EventLoopError` where the system gives no event loop.
    init(service: DeviceService, tls: TLSContext, listener: consuming Listener, logger: Logger) throws(EventLoopError) {
        self.service = service
        self.tls = tls
        self.logger = logger
        self.listener = listener
        loop = try EventLoop()
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Serves until a `stop` message comes or the event loop fails.
    func run() {
        do {
            try loop.watch(listener.fileDescriptor, for: .readable, handler: self)
            scheduleBeat()
            while !isStopping {
                // Expirations and groups may be up to a second late.
                try loop.turn(waitingAtMost: .seconds(1))
                for message in mailbox.take() { handle(message) }
                service.tick()
            }
        } catch {
            logger.error("device thread ended", metadata: .simulator([.error: "\(error)"]))
        }
        service.attach(nil)
        for link in Array(links.values) { link.connection.close(reason: "the simulator stops") }
        loop.unwatch(listener.fileDescriptor)
        service.storage.save()
    }

    /// Accepts the connections that wait.
    ///
    /// - Parameters:
    ///   - readiness: Not looked at.
    ///   - now: Not looked at.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime) {
        do {
            while let socket = try listener.accept() {
                guard links.count < Self.connectionLimit else { continue }
                let number = nextNumber
                nextNumber += 1
                let connection = try FramedConnection(
                    socket, tls: try TLSSession(server: tls), number: number, loop: loop, owner: self)
                links[number] = Link(connection: connection, device: nil)
            }
        } catch {
            logger.warning("cannot accept a device", metadata: .simulator([.error: "\(error)"]))
        }
    }

    /// A handshake is done. The certificate names the device; a connection without a certificate can only activate.
    ///
    /// - Parameter connection: The connection.
    func opened(_ connection: FramedConnection) {
        guard let subject = connection.peerSubject else { return }
        if let device = DeviceID(certificateSubject: subject), service.responder.knows(device) {
            links[connection.number]?.device = device
        } else {
            connection.send(DeviceFrame(error: "this device is not known here; activate it again"))
            connection.close(reason: "the device is not known")
        }
    }

    /// A frame of a device has come.
    ///
    /// - Parameters:
    ///   - frame: The message.
    ///   - connection: The connection.
    func received(_ frame: DeviceFrame, on connection: FramedConnection) {
        guard let device = links[connection.number]?.device else {
            guard frame.frame == .activate else {
                connection.send(DeviceFrame(error: "activate first: this connection shows no certificate"))
                return connection.close(reason: "no certificate")
            }
            return connection.send(service.responder.activate(frame))
        }
        if let answer = service.responder.answer(frame, from: device, link: connection.number) {
            connection.send(answer)
        }
    }

    /// A connection is over.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - reason: Why.
    ///   - isRefused: Not looked at.
    func closed(_ connection: FramedConnection, reason: String, isRefused: Bool) {
        guard let link = links.removeValue(forKey: connection.number) else { return }
        logger.debug(
            "device connection ended", metadata: .simulator([.link: "\(connection.number)", .reason: "\(reason)"]))
        if let device = link.device { service.responder.gone(device, link: connection.number) }
    }

    private func scheduleBeat() {
        _ = loop.schedule(at: .now().adding(nanoseconds: Self.beatInterval * 1_000_000)) { [weak self] _ in
            self?.service.events.beat()
            self?.scheduleBeat()
        }
    }

    private func handle(_ message: DevicePortMessage) {
        switch message {
        case .stop: isStopping = true
        case .send(let frame, let number): links[number]?.connection.send(frame)
        case .close(let number): links[number]?.connection.close(reason: "the device has connected again")
        case .save: save(after: Self.saveDelay)
        }
    }

    private func save(after milliseconds: UInt64) {
        guard !isSaving else { return }
        isSaving = true
        _ = loop.schedule(at: .now().adding(nanoseconds: milliseconds * 1_000_000)) { [weak self] _ in
            guard let self else { return }
            self.isSaving = false
            if !self.service.storage.save() { self.save(after: Self.saveRetryDelay) }
        }
    }
}
