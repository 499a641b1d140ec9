import Synchronization

/// Answers the requests of devices, on the device port's thread.
struct DeviceResponder: Sendable {
    /// The environment the simulator plays.
    let environment: ServiceEnvironment
    /// Makes devices and tokens genuine.
    let authority: DeviceAuthority
    /// What the device side knows.
    let storage: DeviceStorage
    /// The present, in milliseconds since 1970.
    let clock: @Sendable () -> Int64

    private static let nameLimit = 64
    private static let unwritable = "the state directory cannot be written"

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
            guard storage.state.withLock({ $0.activate(id, name: name, now: now) }) else {
                return DeviceFrame(
                    error: "\(DeviceRegistry.deviceLimit) devices are connected already; no more are remembered",
                    request: frame.request)
            }
            guard storage.save() else {
                // No device has got the certificate yet, so the activation can be undone.
                storage.state.withLock { $0.takeBackActivation(of: id) }
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

    /// Tells whether a device was activated here.
    ///
    /// - Parameter device: The device.
    func knows(_ device: DeviceID) -> Bool { storage.state.withLock { $0.registry.devices[device] != nil } }

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
    ///   - link: The connection; nothing happens where it is not the device's present one.
    func gone(_ device: DeviceID, link: Int) {
        let now = clock()
        storage.state.withLock { $0.disconnect(device, link: link, now: now) }
    }

    private func hello(_ frame: DeviceFrame, _ device: DeviceID, link: Int) -> DeviceFrame? {
        let now = clock()
        var ready = DeviceFrame(.ready, request: frame.request)
        ready.device = device.description
        // The state sends the answer, so that it comes before the first notification.
        storage.state.withLock {
            $0.connect(device, by: link, power: frame.power ?? .normal, answer: ready, now: now)
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
        let registration = storage.state.withLock {
            $0.register(device, topic: topic, environment: wanted, now: now)
        }
        guard let registration else {
            return DeviceFrame(
                error: "a device registers for at most \(DeviceRegistry.topicLimit) topics", request: frame.request)
        }
        // A token must outlive a crash before anybody uses it.
        guard storage.save() else { return DeviceFrame(error: Self.unwritable, request: frame.request) }
        do throws(SimulatorError) {
            var answer = DeviceFrame(.token, request: frame.request)
            answer.app = app
            answer.topic = topic
            answer.kind = frame.kind
            answer.environment = wanted.rawValue
            answer.token = try authority.tokens.token(of: registration, device: device)
            answer.issuedAt = registration.issuedAt
            return answer
        } catch {
            return DeviceFrame(error: error.message, request: frame.request)
        }
    }

    private func end(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame {
        let app = frame.frame == .uninstall ? frame.app : nil
        if frame.frame == .uninstall, app == nil {
            return DeviceFrame(error: "which app is to be uninstalled?", request: frame.request)
        }
        let now = clock()
        storage.state.withLock { $0.end(device, app: app, now: now) }
        // After a failure the tokens stay dead in memory. A later call writes that, unless a restart comes first.
        guard storage.save() else { return DeviceFrame(error: Self.unwritable, request: frame.request) }
        return DeviceFrame(.done, request: frame.request)
    }

    private func change(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame {
        let now = clock()
        do throws(DeviceComplaint) {
            let latest = try storage.state.withLock { state throws(DeviceComplaint) in
                try Self.change(frame, device, &state, now: now)
            }
            if let latest, !bring(latest) { throw DeviceComplaint(Self.unwritable) }
            return DeviceFrame(.done, request: frame.request)
        } catch {
            return DeviceFrame(error: error.text, request: frame.request)
        }
    }

    /// Carries out a frame's request.
    ///
    /// - Returns: The message of a broadcast channel that a new listener still gets; nil without one.
    private static func change(
        _ frame: DeviceFrame, _ device: DeviceID, _ state: inout DeviceState, now: Int64
    ) throws(DeviceComplaint) -> Arrival? {
        switch frame.frame {
        case .power:
            guard let power = frame.power else { throw DeviceComplaint("which power state?") }
            state.changePower(of: device, to: power, now: now)
        case .notifications:
            guard let app = frame.app, let isEnabled = frame.enabled else {
                throw DeviceComplaint("which app, on or off?")
            }
            try state.setNotifications(of: app, isEnabled: isEnabled, on: device)
        case .subscribe: return try state.subscribe(device, to: address(in: frame), now: now)
        default: state.unsubscribe(device, from: try address(in: frame))
        }
        return nil
    }

    private static func address(in frame: DeviceFrame) throws(DeviceComplaint) -> BroadcastChannelAddress {
        guard let app = frame.app, let identifier = frame.broadcastChannel else {
            throw DeviceComplaint("which app and broadcast channel?")
        }
        return BroadcastChannelAddress(app: app, identifier: identifier)
    }

    /// Brings a device the most recent message of the broadcast channel that it has begun to listen to.
    ///
    /// - Returns: Whether message and subscription are kept.
    private func bring(_ latest: Arrival) -> Bool {
        let isTaken = storage.take([latest])
        let message = latest.notification
        if !isTaken, let identifier = message.broadcastChannel {
            let address = BroadcastChannelAddress(app: message.app, identifier: identifier)
            storage.state.withLock { $0.unsubscribe(latest.device, from: address) }
        }
        // The subscription is written too: without it, the device would subscribe again after a restart and get the
        // message twice.
        return storage.save() && isTaken
    }

    private func acknowledge(_ frame: DeviceFrame, _ device: DeviceID) -> DeviceFrame? {
        guard let number = frame.delivery else {
            return DeviceFrame(error: "which delivery is acknowledged?", request: frame.request)
        }
        let now = clock()
        storage.state.withLock { $0.acknowledge(number, by: device, now: now) }
        return nil
    }
}
