import PushModel
import Text

/// Compares what APNs accepted for a device with what arrived on it: pure.
struct DemoDeviceAccount: Equatable {
    /// A push as APNs saw it.
    struct Push: Equatable {
        /// Its `apns-id`.
        var id: String
        /// The device token.
        var token: String
        /// The status of APNs' answer.
        var status: Int
        /// When, in milliseconds since 1970.
        var time: Int64
    }

    /// Who owns the device, and what happened to it.
    var owner: DemoDevicePlan.Owner
    /// How many pushes APNs accepted for it.
    var accepted = 0
    /// How many of the accepted pushes arrived.
    var received = 0
    /// How many of the accepted pushes waited at APNs, and arrived after the device was back.
    var onReturn = 0
    /// How many pushes were replaced by a newer notification of the same app while they waited.
    var replaced = 0
    /// How many pushes were answered 410, because the app was gone.
    var unregistered = 0
    /// The `apns-id` of every push that should have arrived and did not.
    var missing: [String] = []
    /// The `apns-id` of everything that arrived and was never accepted.
    var unexpected: [String] = []

    /// Whether the account has no fault, and the device's fate shows in its pushes.
    var isClean: Bool {
        guard missing.isEmpty, unexpected.isEmpty, accepted > 0 else { return false }
        return switch owner.fate {
        case .stays: replaced == 0 && unregistered == 0
        case .leaves: onReturn > 0
        case .uninstalls: unregistered > 0
        }
    }

    /// Compares the pushes that APNs accepted with the arrivals on a device.
    ///
    /// - Parameters:
    ///   - member: The device with its arrivals.
    ///   - pushes: All pushes that APNs saw, in order.
    init(_ member: DemoDevices.Member, pushes: [Push]) {
        owner = member.owner
        let arrived = Set(member.arrivals)
        var known: Set<String> = []
        for token in member.tokens.values {
            let own = pushes.filter { $0.token == token }
            unregistered += own.filter { $0.status == 410 }.count
            let taken = own.filter { $0.status == 200 }
            let waiting = taken.filter { member.absence?.covers($0.time) ?? false }
            let stored = Set(waiting.map(\.id))
            // The same push may be accepted twice after a worker's death. Only its last place counts.
            let newest = waiting.last?.id
            for id in Set(taken.map(\.id)) {
                accepted += 1
                known.insert(id)
                if id == newest {
                    if member.arrivals(sinceLeaving: id) { received += 1 } else { missing.append(id) }
                } else if arrived.contains(id) {
                    received += 1
                } else if stored.contains(id) {
                    replaced += 1
                } else {
                    missing.append(id)
                }
                if stored.contains(id), member.arrivals(sinceReturn: id) { onReturn += 1 }
            }
        }
        unexpected = arrived.subtracting(known).sorted()
        missing.sort()
    }

    /// The account for programs.
    var json: JSON {
        .object([
            ("name", .text(owner.name)), ("accepted", .integer(Int64(accepted))),
            ("received", .integer(Int64(received))), ("on_return", .integer(Int64(onReturn))),
            ("replaced", .integer(Int64(replaced))), ("unregistered", .integer(Int64(unregistered))),
            ("missing", .integer(Int64(missing.count))), ("unexpected", .integer(Int64(unexpected.count))),
        ])
    }

    /// A few words for each device about what it received.
    ///
    /// - Parameter accounts: One for each device.
    static func words(_ accounts: [DemoDeviceAccount]) -> [String] {
        accounts.map { account in
            let notes = [
                (account.onReturn, "on return"), (account.replaced, "replaced"), (account.unregistered, "answered 410"),
            ].filter { $0.0 > 0 }.map { "\(TimeText.count($0.0)) \($0.1)" }
            let more = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
            return "\(account.owner.name) \(TimeText.count(account.received))\(more)"
        }
    }

    /// The faults of all accounts by title. Each name begins with the device's.
    ///
    /// - Parameter accounts: One for each device.
    static func complaints(_ accounts: [DemoDeviceAccount]) -> [(title: String, names: [String])] {
        func names(_ ids: (DemoDeviceAccount) -> [String]) -> [String] {
            accounts.flatMap { account in ids(account).map { "\(account.owner.name) \($0)" } }
        }
        let idle = accounts.filter { !$0.isClean && $0.missing.isEmpty && $0.unexpected.isEmpty }
        return [
            ("accepted by APNs (by \(HeaderName.apnsID)), but never on the device", names(\.missing)),
            ("on a device (by \(HeaderName.apnsID)), but never accepted by APNs", names(\.unexpected)),
            ("devices that did not see what was to be shown with them", idle.map(\.owner.name)),
        ]
    }
}
