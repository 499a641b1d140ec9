import LocalStack
import Rig

/// The demo's devices: their owners, what happens to them, and which pushes they get. Pure.
struct DemoDevicePlan {
    /// What happens to a device while the demo runs.
    enum Fate: Equatable {
        /// It is online all the time.
        case stays
        /// It leaves the network for a while. Meanwhile the newest notification of each app waits for it.
        case leaves
        /// Its owner removes the first app. That app's device token is dead from then on.
        case uninstalls
    }

    /// A device.
    struct Owner: Equatable {
        /// The owner's name.
        var name: String
        /// What happens to it.
        var fate = Fate.stays
    }

    /// A part of the demo, between two changes of the devices.
    enum Round: CaseIterable {
        /// All devices are online with all apps.
        case together
        /// One is offline, and one has lost an app.
        case apart
        /// The one that was offline is back.
        case reunited
    }

    /// One push to a device.
    struct Push: Equatable {
        /// The device, by its place among ``owners``.
        var device: Int
        /// The app, by its place among the demo's apps.
        var app: Int
    }

    /// The devices.
    static let owners = [
        Owner(name: "Ada"), Owner(name: "Ben"), Owner(name: "Cleo"), Owner(name: "Dan"),
        Owner(name: "Eve", fate: .leaves), Owner(name: "Finn", fate: .uninstalls),
    ]

    /// How many pushes there are in all rounds.
    static let count = Round.allCases.reduce(0) { $0 + pushes(in: $1).count }

    /// The pushes of a round, in order.
    ///
    /// - Parameter round: The round.
    static func pushes(in round: Round) -> [Push] {
        let apps = DemoJobMix.apps.indices
        var pushes: [Push] = []
        switch round {
        case .together:
            // The owner who will lose the first app gets a push for it here.
            for turn in 0..<2 {
                pushes += owners.indices.map { Push(device: $0, app: ($0 + turn + 1) % apps.count) }
            }
        case .apart:
            for (device, owner) in owners.enumerated() where owner.fate == .stays {
                pushes.append(Push(device: device, app: device % apps.count))
            }
            for (device, owner) in owners.enumerated() {
                switch owner.fate {
                case .stays: continue
                // The second notification of an app takes the place of the first.
                case .leaves: for _ in 0..<2 { pushes += apps.map { Push(device: device, app: $0) } }
                case .uninstalls: pushes += [0, 1, 0].map { Push(device: device, app: $0) }
                }
            }
        case .reunited:
            for app in apps {
                for (device, owner) in owners.enumerated() where owner.fate != .uninstalls || app > 0 {
                    pushes.append(Push(device: device, app: app))
                }
            }
        }
        return pushes
    }

    /// How many pushes of a round arrive at a device, including pushes that arrive only when it is back.
    ///
    /// - Parameters:
    ///   - round: Which round.
    ///   - device: The device.
    static func arrivals(in round: Round, at device: Int) -> Int {
        let own = pushes(in: round).filter { $0.device == device }
        guard round == .apart else { return own.count }
        return switch owners[device].fate {
        case .stays: own.count
        case .leaves: Set(own.map(\.app)).count
        case .uninstalls: own.filter { $0.app > 0 }.count
        }
    }

    /// The job for a push.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - token: The device token of the app.
    ///   - number: Which push of all. Odd numbers give raw jobs, even numbers enveloped ones.
    ///   - id: The job's id.
    static func job(_ push: Push, token: String, number: Int, id: String) -> RunProducer.Job {
        let app = DemoJobMix.apps[push.app]
        let payload =
            #"{"aps":{"alert":{"title":"\#(app.route)","body":"Number \#(number) for \#(owners[push.device].name)"}}}"#
        guard number.isMultiple(of: 2) else {
            return RunProducer.Job(id: id, topic: app.topic, body: payload, rawToken: token)
        }
        return RunProducer.Job(
            id: id, topic: app.topic, body: EnvelopedBody.text(id: id, tokens: [token], payload: payload))
    }
}
