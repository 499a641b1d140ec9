import EventLoop
import FoundationEssentials
import Synchronization

/// What devices ask for, on the device port's thread.
extension DeviceService {
    /// Makes a new device.
    ///
    /// - Parameter frame: An `activate` frame.
    /// - Returns: The answer.
    func activate(_ frame: DeviceFrame) -> DeviceFrame {
        let id = DeviceID.random()
        let name = String((frame.name ?? "device").prefix(Self.nameLimit))
        do throws(SimulatorError) {
            let issued = try authority.issue(for: id)
            let now = clock()
            let hasRoom = state.withLock { state in
                if state.registry.isFull { forgetOldest(&state) }
                guard state.registry.activate(id, name: name, now: now) else { return false }
                touch(id, &state)
                publish(id, state)
                return true
            }
            guard hasRoom else {
                return DeviceFrame(
                    error: "\(DeviceRegistry.deviceLimit) devices are connected already; no more are remembered",
                    request: frame.request)
            }
            guard save() else {
                // Nobody has its certificate.
                state.withLock { state in
                    state.registry.forget(id)
                    forgotten(id, &state)
                }
                return DeviceFrame(error: Self.unwritable, request: frame.request)
            }
            var answer = DeviceFrame(.activated, request: frame.request)
            answer.device = id.description
            answer.certificate = issued.certificate
            answer.key = issued.key
            return answer
        } catch {
            return DeviceFrame(error: error.message, request: frame.request)
        }
    }

    /// Makes room: devices that are gone for good would otherwise fill the registry for ever.
    private func forgetOldest(_ state: inout State) {
        let links = state.links
        guard let device = state.registry.forgetOldest(where: { links[$0] == nil }) else { return }
        state.store.forget(device)
        forgotten(device, &state)
    }

    private func forgotten(_ device: DeviceID, _ state: inout State) {
        state.unsaved.remove(device)
        state.forgotten.insert(device)
    }

    /// Tells whether a device was activated here.
    ///
    /// - Parameter device: The device.
    func knows(_ device: DeviceID) -> Bool { state.withLock { $0.registry.devices[device] != nil } }

    /// Handles a frame of a device that has shown its certificate.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - device: The device.
    ///   - link: Its connection.
    /// - Returns: The answer; nil for none.
    func answer(_ frame: DeviceFrame, from device: DeviceID, link: Int) -> DeviceFrame? {
        switch frame.frame {
        case .hello: hello(frame, device, link: link)
        case .register: register(frame, device)
        case .uninstall, .restore: end(frame, device)
        case .power, .notifications, .subscribe, .unsubscribe: change(frame, device)
        case .acknowledge: acknowledge(frame, device)
        case .ping: DeviceFrame(.pong, request: frame.request)
        default: DeviceFrame(error: "a device does not send \(frame.frame.rawValue)", request: frame.request)
        }
    }

    /// A device's connection is over.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - link: The connection; only that of the device's present connection counts.
    func gone(_ device: DeviceID, link: Int) {
        let now = clock()
        state.withLock { state in
            guard state.links[device] == link else { return }
            state.links[device] = nil
            perform(state.store.disconnected(device, now: now), &state, now: now)
            publish(device, state)
        }
    }

    private static let nameLimit = 64
    private static let unwritable = "the state directory cannot be written"

    private func hello(_ frame: DeviceFrame, _ device: DeviceID, link: Int) -> DeviceFrame? {
        let now = clock()
        state.withLock { state in
            if let former = state.links[device], former != link { state.port?.post(.close(link: former)) }
            var ready = DeviceFrame(.ready, request: frame.request)
            ready.device = device.description
            // Posted like what follows, so that the answer comes before the first notification.
            state.port?.post(.send(ready, link: link))
            let actions = state.store.connected(device, power: frame.power ?? .normal, now: now)
            state.links[device] = link
            perform(actions, &state, now: now)
            touch(device, &state)
            publish(device, state)
        }
        return nil
    }

    private func register(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame {
        let kind = frame.kind.map { GatewayPushType(rawValue: $0) } ?? .alert
        let wanted = frame.environment.map { ServiceEnvironment(rawValue: $0) } ?? environment
        guard let kind, let wanted else {
            return DeviceFrame(error: "unknown kind of token or environment", request: frame.request)
        }
        guard let app = frame.app, !app.isEmpty, app.utf8.allSatisfy(PushRules.isTopicByte),
            app.utf8.count + kind.topicSuffix.utf8.count <= DeviceTokenCodec.topicLimit
        else { return DeviceFrame(error: "this is not a bundle identifier", request: frame.request) }
        let topic = app + kind.topicSuffix
        let now = clock()
        let registration = state.withLock { state in
            let salt = (0..<DeviceTokenCodec.saltLength).map { _ in UInt8.random(in: 0...255) }
            let before = state.registry.devices[device]
            let made = state.registry.register(device, topic: topic, environment: wanted, now: now, salt: salt)
            if state.registry.devices[device] != before { touch(device, &state) }
            publish(device, state)
            return made
        }
        guard let registration else {
            return DeviceFrame(
                error: "a device registers for at most \(DeviceRegistry.topicLimit) topics", request: frame.request)
        }
        // A token must outlive a crash before anybody uses it.
        guard save() else { return DeviceFrame(error: Self.unwritable, request: frame.request) }
        do throws(SimulatorError) {
            var answer = DeviceFrame(.token, request: frame.request)
            answer.app = app
            answer.topic = topic
            answer.kind = frame.kind
            answer.environment = wanted.rawValue
            answer.token = try token(of: registration, device: device)
            answer.issuedAt = registration.issuedAt
            return answer
        } catch {
            return DeviceFrame(error: error.message, request: frame.request)
        }
    }

    /// The digits of a registration's newest token.
    ///
    /// - Parameters:
    ///   - registration: The registration.
    ///   - device: The device.
    /// - Returns: Hexadecimal digits.
    /// - Throws: ``SimulatorError`` where sealing fails.
    func token(of registration: DeviceRegistry.Registration, device: DeviceID) throws(SimulatorError) -> String {
        try authority.tokens.token(
            for: DeviceTokenContent(
                device: device, environment: registration.environment, generation: registration.generation,
                issuedAt: registration.issuedAt, topic: registration.topic),
            salt: registration.salt)
    }

    private func end(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame {
        let app = frame.frame == .uninstall ? frame.app : nil
        if frame.frame == .uninstall, app == nil {
            return DeviceFrame(error: "which app is to be uninstalled?", request: frame.request)
        }
        guard end(device, app: app) else { return DeviceFrame(error: Self.unwritable, request: frame.request) }
        return DeviceFrame(.done, request: frame.request)
    }

    /// Ends the tokens of one app or of all, and what waits for them.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - app: A bundle identifier; nil for all apps.
    /// - Returns: Whether that is kept; where not, it holds until a restart and is written by a later call.
    private func end(_ device: DeviceID, app: String?) -> Bool {
        let now = clock()
        state.withLock { state in
            let apps = app.map { [$0] } ?? Set(state.registry.devices[device]?.subscriptions.map(\.app) ?? [])
            let topics = state.registry.end(device, app: app, now: now)
            perform(state.store.tokensDied(device, topics: Set(topics), apps: apps), &state, now: now)
            touch(device, &state)
            publish(device, state)
        }
        return save()
    }

    private func change(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame {
        let now = clock()
        var latest: Arrival?
        let complaint: String? = state.withLock { state in
            switch frame.frame {
            case .power:
                guard let power = frame.power else { return "which power state?" }
                perform(state.store.powerChanged(device, to: power, now: now), &state, now: now)
            case .notifications:
                guard let app = frame.app, let isEnabled = frame.enabled else { return "which app, on or off?" }
                guard app.utf8.count <= DeviceTokenCodec.topicLimit,
                    isEnabled || (state.registry.devices[device]?.silenced.count ?? 0) < DeviceRegistry.topicLimit
                else { return "too many apps" }
                state.registry.update(device) {
                    if isEnabled { $0.silenced.remove(app) } else { $0.silenced.insert(app) }
                }
            case .subscribe: return subscribe(frame, device, &state, latest: &latest, now: now)
            default:
                guard let app = frame.app, let channel = frame.broadcastChannel else {
                    return "which app and broadcast channel?"
                }
                state.registry.update(device) {
                    $0.subscriptions.remove(BroadcastChannelAddress(app: app, channel: channel))
                }
            }
            return nil
        }
        if let complaint { return DeviceFrame(error: complaint, request: frame.request) }
        state.withLock { state in
            touch(device, &state)
            publish(device, state)
        }
        if let latest {
            let isTaken = take([latest])
            if !isTaken { unsubscribe(device, from: latest.notification) }
            // The subscription is kept with the message: made again after a restart, it would bring that twice.
            guard save(), isTaken else { return DeviceFrame(error: Self.unwritable, request: frame.request) }
        }
        return DeviceFrame(.done, request: frame.request)
    }

    private func acknowledge(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame? {
        guard let number = frame.delivery else {
            return DeviceFrame(error: "which delivery is acknowledged?", request: frame.request)
        }
        let now = clock()
        state.withLock { state in
            perform(state.store.acknowledged(number, by: device, now: now), &state, now: now)
        }
        return nil
    }

    /// Tells those who look on how a device is; called with the lock held.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - state: Everything behind the lock.
    func publish(_ device: DeviceID, _ state: borrowing State) {
        guard events.hasListeners, let view = view(of: device, state) else { return }
        events.publish("device", view)
    }
}
