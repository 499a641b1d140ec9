/// What a job asks APNs to do.
///
/// Apple: <https://developer.apple.com/documentation/usernotifications/setting-up-broadcast-push-notifications>
package enum ChannelOperation: String, Hashable, Sendable, CaseIterable {
    /// A notification to device tokens, which is what nearly every job wants.
    case push
    /// A Live Activity update to all who listen to a channel.
    case broadcast
    /// A new channel.
    case createChannel = "create_channel"
    /// The storage policy of a channel.
    case readChannel = "read_channel"
    /// The identifiers of all channels of an app.
    case listChannels = "list_channels"
    /// The end of a channel.
    case deleteChannel = "delete_channel"

    /// The operation these bytes name.
    package init?(utf8 bytes: Span<UInt8>) {
        for candidate in Self.all where bytes.matches(candidate.text) {
            self = candidate
            return
        }
        return nil
    }

    /// All operations, built once because `allCases` builds a new array at each use.
    private static let all = Self.allCases

    /// The operation as constant text.
    package var text: StaticString {
        switch self {
        case .push: "push"
        case .broadcast: "broadcast"
        case .createChannel: "create_channel"
        case .readChannel: "read_channel"
        case .listChannels: "list_channels"
        case .deleteChannel: "delete_channel"
        }
    }

    /// Whether it is about channels as such, which APNs takes on hosts and ports of their own.
    package var isManagement: Bool { self != .push && self != .broadcast }

    /// Whether it is about one existing channel, which the job must name.
    package var needsChannel: Bool { self == .broadcast || self == .readChannel || self == .deleteChannel }

    /// The method of its request (RFC 9110, section 9).
    package var method: StaticString {
        switch self {
        case .push, .broadcast, .createChannel: "POST"
        case .readChannel, .listChannels: "GET"
        case .deleteChannel: "DELETE"
        }
    }

    /// What an answer's body may have, in bytes, before the rest of it is dropped: a list of as many channels as an app
    /// may have takes less than 512 KiB.
    package var answerLimit: Int { self == .listChannels ? 512 * 1_024 : 4_096 }
}

/// The rules for channels that can be checked without APNs.
package enum Channel {
    /// The largest payload of a broadcast, in bytes.
    package static let payloadLimit = 5_120
    /// The longest channel identifier, in bytes; Apple gives no size, those seen have 24.
    package static let maximumIDLength = 512
    /// The most channels that a result lists: as many as Apple allows an app in one environment.
    package static let maximumListed = 10_000

    /// Whether the bytes may be a channel's identifier: 1 to 512 of the characters of base64, in either alphabet.
    static func isLegal(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 1, bytes.count <= maximumIDLength else { return false }
        for index in 0..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            default:
                return false
            }
        }
        return true
    }
}

/// What the answer to an operation on channels says beside its status; only an answer that accepts it has one.
package final class ChannelAnswer: Sendable, Equatable {
    /// The new channel's identifier, from the header `apns-channel-id`.
    package let channelID: [UInt8]?
    /// The channel's storage policy: 0 or 1.
    package let storagePolicy: UInt8?
    /// The identifiers of the app's channels, as a JSON array; nil where the answer lists none.
    package let channels: [UInt8]?
    /// Whether APNs listed more than `channels` holds.
    package let isIncomplete: Bool

    /// The longest identifier taken from an answer, in bytes.
    package static let maximumIDLength = 2_048

    /// An answer from its parts.
    package init(
        channelID: [UInt8]? = nil, storagePolicy: UInt8? = nil, channels: [UInt8]? = nil, isIncomplete: Bool = false
    ) {
        self.channelID = channelID
        self.storagePolicy = storagePolicy
        self.channels = channels
        self.isIncomplete = isIncomplete
    }

    /// Whether two answers say the same.
    package static func == (one: ChannelAnswer, other: ChannelAnswer) -> Bool {
        one.channelID == other.channelID && one.storagePolicy == other.storagePolicy && one.channels == other.channels
            && one.isIncomplete == other.isIncomplete
    }

    /// Reads the body of an answer; what cannot be read is left out, and a list that breaks off counts up to there.
    ///
    /// - Parameters:
    ///   - channelID: The value of the header `apns-channel-id`; dropped where it cannot be one.
    ///   - body: The body, perhaps cut at the operation's `answerLimit`.
    package convenience init(channelID: [UInt8]?, reading body: [UInt8]) {
        var reader = ChannelAnswerReader()
        do throws(JSONError) {
            try reader.read(body.span)
        } catch {
            reader.isIncomplete = reader.channels != nil
        }
        if reader.channels != nil { reader.channels?.append(UInt8(ascii: "]")) }
        let isText = channelID.map { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } } ?? false
        self.init(
            channelID: isText ? channelID : nil, storagePolicy: reader.storagePolicy, channels: reader.channels,
            isIncomplete: reader.isIncomplete)
    }
}

/// Collects what the body of an answer about channels says.
private struct ChannelAnswerReader {
    var storagePolicy: UInt8?
    /// The JSON array as far as it was read, without its closing bracket.
    var channels: [UInt8]?
    var isIncomplete = false

    mutating func read(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner(0..<bytes.count)
        guard try scanner.enterObject(in: bytes) else { return }
        while let name = try scanner.nextName(in: bytes) {
            if bytes.extracting(name.range).matches("channels" as StaticString) {
                try readChannels(&scanner, bytes)
                continue
            }
            let value = try scanner.value(in: bytes)
            guard bytes.extracting(name.range).matches("message-storage-policy" as StaticString) else { continue }
            let number = value.kind == .number ? bytes.extracting(value.range).wholeNumber() : nil
            storagePolicy = number.flatMap { UInt8(exactly: $0) }
        }
    }

    /// Copies the elements as they are written, without what stands between them.
    private mutating func readChannels(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONError) {
        guard try scanner.enterArray(in: bytes) else {
            _ = try scanner.value(in: bytes)
            return
        }
        channels = [UInt8(ascii: "[")]
        var count = 0
        while try scanner.hasElement(in: bytes) {
            let value = try scanner.value(in: bytes)
            guard value.kind == .string, value.range.count <= ChannelAnswer.maximumIDLength,
                count < Channel.maximumListed
            else {
                isIncomplete = true
                continue
            }
            if count > 0 { channels?.append(UInt8(ascii: ",")) }
            count += 1
            channels?.append(UInt8(ascii: "\""))
            bytes.extracting(value.range).withUnsafeBufferPointer { channels?.append(contentsOf: $0) }
            channels?.append(UInt8(ascii: "\""))
        }
    }
}
