package import EventLoop
import FoundationEssentials
import TLS

/// A device: activates, connects, registers its apps and receives notifications. Lives on the thread that calls
/// ``run()``.
package final class DeviceClient: FramedConnectionOwner {
    /// How long the attempt to connect to one address may take.
    static let connectLimit = Duration.seconds(5)
    /// How often the device sends `ping`, in milliseconds.
    static let pingInterval: UInt64 = 15_000
    /// How long a simulator may be silent, in milliseconds, before the device connects again.
    static let silenceLimit: UInt64 = 45_000
    /// How many of the owner's commands are kept while the device is offline. Further commands are dropped.
    static let wishLimit = 100

    /// Where other threads leave commands.
    package let mailbox: Mailbox<DeviceCommand>

    private let configuration: DeviceClientConfiguration
    private let loop: EventLoop
    private let report: (DeviceEvent) -> Void
    private let store: DeviceIdentityStore
    private var identity: DeviceIdentityStore.Identity?
    private var connection: FramedConnection?
    private var apps: [DeviceClientConfiguration.App]
    private var wishes: [DeviceFrame] = []
    private var asked: [Int: String] = [:]
    private var power: PowerState
    private var backoff = DeviceBackoff()
    private var isWanted: Bool
    private var isStopping = false
    private var retry: TimerID?
    private var nextNumber = 1
    private var nextRequest = 1
    private var lastHeard = MonotonicTime.now()

    /// Prepares a device.
    ///
    /// - Parameters:
    ///   - configuration: What it is.
    ///   - report: Called for each event, on the thread of ``run()``.
    /// - Throws: ``SimulatorError`` where the device's state cannot be read, or the system gives no event loop.
    package init(
        _ configuration: DeviceClientConfiguration, report: @escaping (DeviceEvent) -> Void
    ) throws(SimulatorError) {
        self.configuration = configuration
        self.report = report
        store = try DeviceIdentityStore(directory: configuration.stateDirectory)
        identity = try store.load()
        apps = configuration.apps
        power = configuration.power
        isWanted = !configuration.startsOffline
        do {
            loop = try EventLoop()
        } catch {
            throw SimulatorError(.network, "cannot make an event loop: \(error)")
        }
        mailbox = Mailbox(waking: loop.wakeup)
    }

    /// Lives until it is told to quit.
    ///
    /// - Throws: ``SimulatorError`` where the event loop fails.
    package func run() throws(SimulatorError) {
        if isWanted { connect() } else { report(.offline(reason: "told to be", retryIn: nil)) }
        schedulePing()
        do {
            while !isStopping {
                for command in mailbox.take() { obey(command) }
                if isStopping { break }
                try loop.turn(waitingAtMost: .seconds(60))
            }
        } catch {
            throw SimulatorError(.network, "the device's event loop failed: \(error)")
        }
        isWanted = false
        connection?.close(reason: "the device ends")
    }

    private func connect() {
        retry = nil
        guard isWanted, connection == nil else { return }
        do {
            let identity = try identity.map {
                try CertificateIdentity(certificatePEM: Array($0.certificate.utf8), keyPEM: Array($0.key.utf8))
            }
            let trust = TrustRoots(systemRoots: false, files: [], pem: [configuration.authorityPEM])
            let context = try TLSContext.client(
                trust: trust, identity: identity, applicationProtocols: [DeviceFrame.applicationProtocol])
            let session = try TLSSession(client: context, serverName: configuration.host)
            var last: (any Error)?
            for address in try Resolver.addresses(host: configuration.host, port: configuration.port) {
                do {
                    let socket = try Socket.connect(to: address, timeout: Self.connectLimit)
                    connection = try FramedConnection(
                        socket, tls: session, number: nextNumber, loop: loop, owner: self)
                    nextNumber += 1
                    lastHeard = .now()
                    return
                } catch {
                    last = error
                }
            }
            connectLater(last.map { "\($0)" } ?? "no address")
        } catch {
            connectLater("\(error)")
        }
    }

    private func connectLater(_ reason: String) {
        guard isWanted, !isStopping else { return report(.offline(reason: reason, retryIn: nil)) }
        let wait = backoff.failed(fraction: .random(in: 0...1))
        report(.offline(reason: reason, retryIn: wait))
        retry = loop.schedule(at: .now().adding(nanoseconds: UInt64(wait) * 1_000_000)) { [weak self] _ in
            self?.connect()
        }
    }

    private func schedulePing() {
        _ = loop.schedule(at: .now().adding(nanoseconds: Self.pingInterval * 1_000_000)) { [weak self] now in
            guard let self else { return }
            if now.nanoseconds(since: self.lastHeard) > Self.silenceLimit * 1_000_000 {
                self.connection?.close(reason: "the simulator is silent")
            } else {
                self.connection?.send(DeviceFrame(.ping))
            }
            self.schedulePing()
        }
    }
}

extension DeviceClient {
    /// The handshake is done. A new device activates. Any other device sends the commands that waited, then `hello`.
    ///
    /// - Parameter connection: The connection.
    func opened(_ connection: FramedConnection) {
        guard identity != nil else {
            var frame = DeviceFrame(.activate)
            frame.name = configuration.name
            return connection.send(frame)
        }
        // Sent before `hello`, so that nothing arrives for an app that was uninstalled meanwhile.
        for wish in wishes { connection.send(wish) }
        wishes = []
        var hello = DeviceFrame(.hello)
        hello.power = power
        connection.send(hello)
    }

    /// A frame of the simulator has come.
    ///
    /// - Parameters:
    ///   - frame: The message.
    ///   - connection: The connection.
    func received(_ frame: DeviceFrame, on connection: FramedConnection) {
        lastHeard = .now()
        switch frame.frame {
        case .activated: activated(frame, connection)
        case .ready:
            backoff.succeeded()
            report(.online(device: frame.device ?? ""))
            for app in apps { register(app) }
        case .token:
            guard let app = frame.app, let token = frame.token else { return }
            report(
                .token(
                    app: app, topic: frame.topic ?? app, environment: frame.environment ?? "", token: token))
        case .notification:
            report(.notification(frame))
            var receipt = DeviceFrame(.acknowledge)
            receipt.delivery = frame.delivery
            connection.send(receipt)
        case .done: report(.done(frame.request.flatMap { asked.removeValue(forKey: $0) } ?? "done"))
        case .error: report(.trouble(frame.message ?? "unknown trouble"))
        default: return
        }
    }

    /// The connection is over.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - reason: Why.
    ///   - isRefused: Whether the simulator ended TLS with an alert, above all because it refused the certificate. The
    ///     device then forgets its identity and activates again.
    func closed(_ connection: FramedConnection, reason: String, isRefused: Bool) {
        guard self.connection === connection else { return }
        self.connection = nil
        asked = [:]
        if isRefused, identity != nil {
            identity = nil
            store.forget()
            report(.trouble("the simulator does not know this device any more; it begins again"))
        }
        connectLater(reason)
    }

    private func activated(_ frame: DeviceFrame, _ connection: FramedConnection) {
        guard let device = frame.device, let certificate = frame.certificate, let key = frame.key else { return }
        do throws(SimulatorError) {
            let made = DeviceIdentityStore.Identity(device: device, certificate: certificate, key: key)
            try store.save(made)
            identity = made
            report(.activated(device: device))
        } catch {
            report(.trouble(error.message))
        }
        // A new connection shows the certificate; the old one cannot.
        self.connection = nil
        connection.close(reason: "activated")
        connect()
    }

    private func register(_ app: DeviceClientConfiguration.App) {
        var frame = DeviceFrame(.register)
        frame.app = app.identifier
        frame.kind = app.kind
        frame.environment = configuration.environment
        connection?.send(frame)
    }

    private func ask(_ frame: DeviceFrame, _ words: String) {
        var numbered = frame
        numbered.request = nextRequest
        nextRequest += 1
        guard let connection, identity != nil else {
            if wishes.count < Self.wishLimit { wishes.append(numbered) }
            return
        }
        asked[nextRequest - 1] = words
        connection.send(numbered)
    }

    private func obey(_ command: DeviceCommand) {
        switch command {
        case .offline:
            isWanted = false
            if let retry { loop.cancel(retry) }
            retry = nil
            if let connection {
                connection.close(reason: "told to be")
            } else {
                report(.offline(reason: "told to be", retryIn: nil))
            }
        case .online:
            isWanted = true
            if let retry { loop.cancel(retry) }
            connect()
        case .power(let state):
            power = state
            guard connection != nil else { return }
            var frame = DeviceFrame(.power)
            frame.power = state
            ask(frame, "power \(state.rawValue)")
        case .uninstall(let app):
            uninstall(app)
            apps.removeAll { $0.identifier == app }
        case .reinstall(let app):
            let known = apps.filter { $0.identifier == app }
            if known.isEmpty { apps.append(DeviceClientConfiguration.App(app)) } else { uninstall(app) }
            for again in apps.filter({ $0.identifier == app }) { register(again) }
        case .restore:
            ask(DeviceFrame(.restore), "restored")
            for app in apps { register(app) }
        case .subscribe(let app, let broadcastChannel): listen(.subscribe, app, broadcastChannel)
        case .unsubscribe(let app, let broadcastChannel): listen(.unsubscribe, app, broadcastChannel)
        case .mute(let app): switchNotifications(of: app, on: false)
        case .unmute(let app): switchNotifications(of: app, on: true)
        case .quit: isStopping = true
        }
    }

    private func uninstall(_ app: String) {
        var frame = DeviceFrame(.uninstall)
        frame.app = app
        ask(frame, "uninstalled \(app)")
    }

    private func listen(_ kind: DeviceFrame.Kind, _ app: String, _ broadcastChannel: String) {
        var frame = DeviceFrame(kind)
        frame.app = app
        frame.broadcastChannel = broadcastChannel
        ask(frame, "\(kind.rawValue)d \(broadcastChannel)")
    }

    private func switchNotifications(of app: String, on isOn: Bool) {
        var frame = DeviceFrame(.notifications)
        frame.app = app
        frame.enabled = isOn
        ask(frame, "\(isOn ? "unmuted" : "muted") \(app)")
    }
}
