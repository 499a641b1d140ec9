/// The content of an answer to an operation on broadcast channels, beside its status. Only an answer that accepts the
/// operation has one.
package final class BroadcastChannelAnswer: Sendable, Equatable {
    /// The new broadcast channel's identifier, from the header `apns-channel-id`.
    package let channelID: [UInt8]?
    /// The broadcast channel's storage policy as it was written, 0...255; Apple defines 0 and 1.
    package let storagePolicy: UInt8?
    /// The identifiers of the app's broadcast channels, as a JSON array; nil if the answer has no list.
    package let identifiers: [UInt8]?
    /// Whether APNs listed more than `identifiers` holds.
    package let isIncomplete: Bool

    /// The longest identifier taken from an answer, in bytes.
    package static let maximumIDLength = 2_048

    /// An answer from its parts.
    package init(
        channelID: [UInt8]? = nil, storagePolicy: UInt8? = nil, identifiers: [UInt8]? = nil, isIncomplete: Bool = false
    ) {
        self.channelID = channelID
        self.storagePolicy = storagePolicy
        self.identifiers = identifiers
        self.isIncomplete = isIncomplete
    }

    /// Whether two answers say the same.
    package static func == (one: BroadcastChannelAnswer, other: BroadcastChannelAnswer) -> Bool {
        one.channelID == other.channelID && one.storagePolicy == other.storagePolicy
            && one.identifiers == other.identifiers && one.isIncomplete == other.isIncomplete
    }

    /// Reads the body of an answer. Parts that cannot be read are left out. A list that breaks off keeps the elements
    /// before the break.
    ///
    /// - Parameters:
    ///   - channelID: The value of the header `apns-channel-id`; dropped if it is empty or not visible ASCII.
    ///   - body: The body, perhaps cut at the operation's `answerLimit`.
    package convenience init(channelID: [UInt8]?, reading body: [UInt8]) {
        var reader = BroadcastChannelAnswerReader()
        do throws(JSONError) {
            try reader.read(body.span)
        } catch {
            reader.isIncomplete = reader.identifiers != nil
        }
        if reader.identifiers != nil { reader.identifiers?.append(UInt8(ascii: "]")) }
        let isText = channelID.map { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } } ?? false
        self.init(
            channelID: isText ? channelID : nil, storagePolicy: reader.storagePolicy, identifiers: reader.identifiers,
            isIncomplete: reader.isIncomplete)
    }
}

/// Collects what the body of an answer about broadcast channels says.
private struct BroadcastChannelAnswerReader {
    var storagePolicy: UInt8?
    /// The JSON array as far as it was read, without its closing bracket.
    var identifiers: [UInt8]?
    var isIncomplete = false

    mutating func read(_ bytes: Span<UInt8>) throws(JSONError) {
        var scanner = JSONScanner(0..<bytes.count)
        guard try scanner.enterObject(in: bytes) else { return }
        while let name = try scanner.nextName(in: bytes) {
            if bytes.extracting(name.range).matches("channels" as StaticString) {
                try readIdentifiers(&scanner, bytes)
                continue
            }
            let value = try scanner.value(in: bytes)
            guard bytes.extracting(name.range).matches("message-storage-policy" as StaticString) else { continue }
            let number = value.kind == .number ? bytes.extracting(value.range).wholeNumber() : nil
            storagePolicy = number.flatMap { UInt8(exactly: $0) }
        }
    }

    /// Copies the strings of the list as they are written, separated by commas only.
    private mutating func readIdentifiers(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONError) {
        guard try scanner.enterArray(in: bytes) else {
            _ = try scanner.value(in: bytes)
            return
        }
        identifiers = [UInt8(ascii: "[")]
        var count = 0
        while try scanner.hasElement(in: bytes) {
            let value = try scanner.value(in: bytes)
            guard value.kind == .string, value.range.count <= BroadcastChannelAnswer.maximumIDLength,
                count < BroadcastChannel.maximumListed
            else {
                isIncomplete = true
                continue
            }
            if count > 0 { identifiers?.append(UInt8(ascii: ",")) }
            count += 1
            identifiers?.append(UInt8(ascii: "\""))
            bytes.extracting(value.range).withUnsafeBufferPointer { identifiers?.append(contentsOf: $0) }
            identifiers?.append(UInt8(ascii: "\""))
        }
    }
}
