package import FoundationEssentials
import Text

/// One message between a device and the simulator: a JSON object whose `frame` says what it is.
///
/// Both directions share a TLS connection to the device port (ALPN `apns-device`). Before each frame stands its length
/// in bytes, as four bytes with the most significant first. The length is at most ``lengthLimit``.
///
/// | from the device | answer | meaning |
/// |---|---|---|
/// | `activate` with `name` | `activated` with `device`, `certificate`, `key` | needs no client certificate |
/// | `hello` with `power` | `ready` with `device` | the device is online from now on |
/// | `register` with `app`, `kind`, `environment` | `token` with `token`, `topic`, `issued_at` | see below |
/// | `uninstall` with `app` | `done` | the app's tokens are dead: 410 with this moment's timestamp |
/// | `restore` | `done` | all tokens are dead: the device was restored or its system set up again |
/// | `power` with `power` | `done` | `normal`, or `low`: priority 5 comes in groups, priority 1 waits |
/// | `notifications` with `app`, `enabled` | `done` | the owner switches an app's notifications on or off |
/// | `subscribe`, `unsubscribe` with `app`, `channel` | `done` | listens to a broadcast channel, or no longer |
/// | `acknowledge` with `delivery` | none | the notification has arrived |
/// | `ping` | `pong` | shows that the other side is alive |
///
/// `activate` is the only frame that is allowed without a client certificate. `register` gives the same token while the
/// token lives.
///
/// The simulator sends `notification` without a request. It answers a request that it cannot fulfil with `error` and
/// `message`. An answer repeats the `request` of the frame.
package struct DeviceFrame: Codable, Equatable, Sendable {
    /// What a frame is.
    package enum Kind: String, Codable, Sendable {
        case activate, activated, hello, ready, register, token, uninstall, restore, power, notifications, subscribe
        case unsubscribe, done, notification, acknowledge, ping, pong, error
    }

    /// The longest frame in bytes: a payload of 5120 bytes fits with every byte escaped.
    package static let lengthLimit = 64 << 10

    /// The application protocol of the device port.
    package static let applicationProtocol = "apns-device"

    /// What the frame is.
    package var frame: Kind
    /// A number of the device's choice that the answer repeats.
    package var request: Int?
    /// The device.
    package var device: String?
    /// What the owner calls the device.
    package var name: String?
    /// The device's certificate in PEM.
    package var certificate: String?
    /// The device's private key in PEM: a secret.
    package var key: String?
    /// A bundle identifier.
    package var app: String?
    /// The push type that a token is for; nil for the app's own token.
    package var kind: String?
    /// `development` or `production`; nil for the one the simulator plays.
    package var environment: String?
    /// The device token, hexadecimal digits.
    package var token: String?
    /// Seconds since 1970 at which the token was issued.
    package var issuedAt: Int64?
    /// `normal` or `low`.
    package var power: PowerState?
    /// Whether an app's notifications are on.
    package var enabled: Bool?
    /// A broadcast channel's identifier.
    package var broadcastChannel: String?
    /// The number of a notification's delivery, which `acknowledge` repeats.
    package var delivery: Int64?
    /// The notification's identifier.
    package var id: String?
    /// The topic of the notification or the token.
    package var topic: String?
    /// The notification's push type.
    package var pushType: String?
    /// The notification's priority.
    package var priority: Int?
    /// Notifications with the same value replace each other on the device.
    package var collapseID: String?
    /// Milliseconds since 1970 at which the push was accepted.
    package var time: Int64?
    /// The payload, where it is UTF-8.
    package var payload: String?
    /// The payload in base64, where it is not UTF-8.
    package var payloadData: Data?
    /// What went wrong, for a person.
    package var message: String?

    private enum CodingKeys: String, CodingKey {
        case frame, request, device, name, certificate, key, app, kind, environment, token, power, enabled
        case broadcastChannel = "channel"
        case delivery, id, topic, priority, time, payload, message
        case issuedAt = "issued_at"
        case pushType = "push_type"
        case collapseID = "collapse_id"
        case payloadData = "payload_base64"
    }

    /// Makes a frame with nothing but its kind.
    ///
    /// - Parameters:
    ///   - frame: What it is.
    ///   - request: The number the answer repeats.
    package init(_ frame: Kind, request: Int? = nil) {
        self.frame = frame
        self.request = request
    }

    /// Makes the frame that says what went wrong.
    ///
    /// - Parameters:
    ///   - message: What, for a person.
    ///   - request: The number of the frame it answers.
    package init(error message: String, request: Int? = nil) {
        self.init(.error, request: request)
        self.message = message
    }

    /// Makes the frame that brings a notification.
    ///
    /// - Parameter delivery: The notification and its number.
    init(_ delivery: NotificationStore.Delivery) {
        self.init(.notification)
        let notification = delivery.notification
        self.delivery = delivery.number
        id = notification.id.description
        app = notification.app
        topic = notification.topic
        broadcastChannel = notification.broadcastChannel
        pushType = notification.type
        priority = notification.priority
        collapseID = notification.collapseID
        time = notification.acceptedAt
        payload = String(validating: notification.payload, as: UTF8.self)
        if payload == nil { payloadData = notification.payload }
    }

    /// Reads a frame.
    ///
    /// - Parameter bytes: The bytes after the length.
    /// - Throws: ``SimulatorError`` where it is not a frame.
    package init(bytes: [UInt8]) throws(SimulatorError) {
        do {
            self = try JSONDecoder().decode(DeviceFrame.self, from: Data(bytes))
        } catch {
            throw SimulatorError(.protocol, "a frame on a device connection cannot be understood")
        }
    }

    /// The frame with its length before it.
    package var wire: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and base64 always have a JSON form.
        guard let body = try? encoder.encode(self) else { return [] }
        let length = UInt32(clamping: body.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + body
    }
}
