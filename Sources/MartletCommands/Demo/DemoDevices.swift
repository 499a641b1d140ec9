import APNSSimulator
import EventLoop
import FoundationEssentials
import LocalStack
import PushModel
import Rig
import Synchronization

/// The demo's devices. Each lives on a thread of this process, until the owner of this object calls ``stop()``.
final class DemoDevices: Sendable {
    /// A time during which a device is not connected.
    struct Absence: Equatable {
        /// Milliseconds since 1970 just before the device was told to leave.
        var left: Int64
        /// How many notifications had arrived by then.
        var arrivalsBefore: Int
        /// Milliseconds since 1970 when the device was connected again; nil before that.
        var back: Int64?
        /// How many notifications had arrived by then.
        var arrivalsUntilBack: Int?

        /// Whether a moment is within it.
        func covers(_ time: Int64) -> Bool { time >= left && time <= back ?? .max }
    }

    /// A device: its owner, its state, and its arrivals.
    struct Member: Equatable {
        /// Who owns it.
        var owner: DemoDevicePlan.Owner
        /// The newest device token of each topic.
        var tokens: [String: String] = [:]
        /// Whether it is connected.
        var isOnline = false
        /// The topics of apps that were removed.
        var removed: Set<String> = []
        /// The `apns-id` of every notification that arrived, in order. A notification that came twice is here twice.
        var arrivals: [String] = []
        /// The last notification that arrived, in words.
        var last = ""
        /// When it was not connected; nil where the demo did not tell it to leave.
        var absence: Absence?

        /// Whether a notification arrived after the device was told to leave.
        func arrivals(sinceLeaving id: String) -> Bool {
            arrivals.dropFirst(absence?.arrivalsBefore ?? 0).contains(id)
        }

        /// Whether a notification arrived after the device had come back.
        func arrivals(sinceReturn id: String) -> Bool {
            guard let count = absence?.arrivalsUntilBack else { return false }
            return arrivals.dropFirst(count).contains(id)
        }

        /// Takes in an event of the device.
        ///
        /// - Parameters:
        ///   - event: What happened.
        ///   - time: Milliseconds since 1970.
        mutating func take(_ event: DeviceEvent, at time: Int64) {
            switch event {
            case .online:
                isOnline = true
                guard absence != nil, absence?.back == nil else { return }
                absence?.back = time
                absence?.arrivalsUntilBack = arrivals.count
            case .offline: isOnline = false
            case .token(_, let topic, _, let token): tokens[topic] = token
            case .notification(let frame):
                arrivals.append(frame.id?.lowercased() ?? "")
                last = Self.words(of: frame)
            case .done(let words):
                let prefix = "uninstalled "
                if words.hasPrefix(prefix) { removed.insert(String(words.dropFirst(prefix.count))) }
            case .activated, .trouble: return
            }
        }

        private struct Payload: Decodable {
            struct Content: Decodable { var alert: Alert }
            struct Alert: Decodable { var title, body: String }
            var aps: Content
        }

        private static func words(of frame: DeviceFrame) -> String {
            let data = Data((frame.payload ?? "").utf8)
            guard let alert = try? JSONDecoder().decode(Payload.self, from: data).aps.alert else {
                return DeviceLines.summary(of: frame)
            }
            return "\(alert.title): \(alert.body)"
        }
    }

    private struct Running {
        var mailbox: Mailbox<DeviceCommand>
        var thread: LoopThread
    }

    private let state = Mutex(DemoDevicePlan.owners.map { Member(owner: $0) })
    private let running = Mutex<[Running]>([])

    /// How the devices are at present.
    var members: [Member] { state.withLock { $0 } }

    /// Starts the devices; blocks for a moment.
    ///
    /// - Parameter local: Whose simulator they belong to.
    /// - Throws: `SimulatorError` or `LocalStackError` where a device cannot be had.
    func start(on local: LocalRun) throws {
        for (index, owner) in DemoDevicePlan.owners.enumerated() {
            var configuration = DeviceClientConfiguration(
                stateDirectory: try local.directory.makeDirectory("device-\(owner.name.lowercased())"),
                host: "localhost", port: local.simulator.devicePort ?? 0, authorityPEM: local.simulator.authorityPEM)
            configuration.name = owner.name
            configuration.apps = local.apps.map { DeviceClientConfiguration.App($0.topic) }
            let client = try DeviceClient(configuration) { [self] event in
                state.withLock { $0[index].take(event, at: WallClock.milliseconds()) }
            }
            let mailbox = client.mailbox
            // A device whose loop failed receives nothing more. The accounts show that.
            let thread = try LoopThread.start(name: "demo-device") { try? client.run() }
            running.withLock { $0.append(Running(mailbox: mailbox, thread: thread)) }
        }
    }

    /// Whether every device is connected and has a device token for every app.
    func areReady(for apps: [LocalRun.App]) -> Bool {
        members.allSatisfy { member in member.isOnline && apps.allSatisfy { member.tokens[$0.topic] != nil } }
    }

    /// Lets a device leave the network.
    func leave(_ index: Int) {
        state.withLock {
            $0[index].absence = Absence(left: WallClock.milliseconds(), arrivalsBefore: $0[index].arrivals.count)
        }
        tell(.offline, index)
    }

    /// Tells a device something.
    func tell(_ command: DeviceCommand, _ index: Int) { running.withLock { $0[index].mailbox.post(command) } }

    /// Ends all devices; blocks until they have.
    func stop() {
        let all = running.withLock { $0 }
        for device in all { device.mailbox.post(.quit) }
        for device in all { device.thread.join() }
    }
}
