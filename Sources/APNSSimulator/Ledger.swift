import Synchronization
import Text

/// What every device token received, in order, and how often each answer was given. Safe from any thread.
///
/// An entry takes 88 bytes, and all tokens lie in one buffer. So a million pushes to device tokens of 64 digits take
/// about 150 MB. Pushes beyond ``capacity`` entries are counted but not listed.
package final class Ledger: Sendable {
    /// How often one kind of answer was given.
    package struct Count: Equatable, Sendable {
        /// The status answered, 200 for an answer that was lost on purpose; 0 where there was no answer.
        package var status: Int
        /// The reason, or what happened instead of or beside an answer; empty for a plain 200.
        package var label: String
        /// How often.
        package var count: Int
    }

    /// How many entries are kept unless the configuration says otherwise.
    package static let defaultCapacity = 1_000_000

    /// How many different topics and outcomes are told apart. The last of these names is `(more)`, for all further
    /// ones.
    static let nameLimit = 4096

    /// How many entries are kept.
    package let capacity: Int

    private let state = Mutex(State())

    /// Makes an empty ledger.
    ///
    /// - Parameter capacity: How many entries are kept.
    package init(capacity: Int = Ledger.defaultCapacity) { self.capacity = capacity }

    /// Writes a push down.
    ///
    /// - Parameters:
    ///   - token: The device token's digits.
    ///   - id: The identifier answered.
    ///   - topic: The topic.
    ///   - payload: The payload.
    ///   - time: Milliseconds since 1970.
    ///   - status: The status answered, 0 for none.
    ///   - label: The reason or what happened instead.
    ///   - connection: Which connection.
    ///   - stream: The HTTP/2 stream.
    func record(
        token: [UInt8], id: UUIDBytes, topic: String, payload: [UInt8], time: Int64, status: Int, label: String,
        connection: Int, stream: Int32
    ) {
        let hash = StableHash.of(payload.span)
        state.withLock { state in
            let outcome = state.outcomes.index(
                of: Outcome(status: status, label: label), limit: Self.nameLimit,
                overflow: Outcome(status: 0, label: "(more)"))
            if outcome == state.counts.count { state.counts.append(0) }
            state.counts[outcome] += 1
            guard state.entries.count < capacity else {
                state.unlisted += 1
                return
            }
            state.entries.append(
                Entry(
                    id: id, payloadHash: hash, time: time, tokenStart: state.tokens.count, tokenLength: token.count,
                    payloadBytes: payload.count,
                    topic: state.topics.index(of: topic, limit: Self.nameLimit, overflow: "(more)"), outcome: outcome,
                    connection: connection, stream: stream))
            state.tokens.append(contentsOf: token)
        }
    }

    /// The entries in order.
    ///
    /// - Parameter token: Only what this device token received; nil for all.
    /// - Returns: Copies.
    package func records(token: String? = nil) -> [LedgerRecord] {
        state.withLock { state in
            var records: [LedgerRecord] = []
            for (index, entry) in state.entries.enumerated() {
                if let token, !state.tokens[entry.tokenRange].elementsEqual(token.utf8) { continue }
                records.append(state.record(at: index))
            }
            return records
        }
    }

    /// A count for each kind of answer, in the order of first occurrence.
    package var counts: [Count] {
        state.withLock { state in
            zip(state.outcomes.names, state.counts).map {
                Count(status: $0.status, label: $0.label, count: $1)
            }
        }
    }

    /// A count for each kind of answer, without the listed answers for one device token, in the order of first
    /// occurrence.
    ///
    /// - Parameter token: The device token whose answers do not count.
    package func counts(besides token: String) -> [Count] {
        state.withLock { state in
            var counts = state.counts
            for entry in state.entries where state.tokens[entry.tokenRange].elementsEqual(token.utf8) {
                counts[entry.outcome] -= 1
            }
            return zip(state.outcomes.names, counts).map {
                Count(status: $0.status, label: $0.label, count: $1)
            }
        }
    }

    /// How many pushes were seen.
    package var total: Int { state.withLock { $0.counts.reduce(0, +) } }

    /// How many pushes are counted but not listed, because the ledger was full.
    package var unlisted: Int { state.withLock { $0.unlisted } }

    /// Forgets everything.
    package func reset() { state.withLock { $0 = State() } }

    /// Appends lines for some entries. A caller renders a large ledger in many calls, each of which holds the lock
    /// briefly.
    ///
    /// - Parameters:
    ///   - start: The first entry to look at.
    ///   - limit: How many entries to look at.
    ///   - token: Only this device token; nil for all.
    ///   - isCompact: `apns-id token status` lines instead of JSON Lines.
    ///   - output: Receives the lines.
    /// - Returns: Where to go on, nil at the end.
    package func render(
        from start: Int, limit: Int, token: [UInt8]?, isCompact: Bool, into output: inout [UInt8]
    ) -> Int? {
        state.withLock { state in
            guard start < state.entries.count else { return nil }
            let end = min(start + limit, state.entries.count)
            for index in start..<end {
                let entry = state.entries[index]
                if let token, !state.tokens[entry.tokenRange].elementsEqual(token) { continue }
                if isCompact {
                    state.appendCompactLine(of: entry, to: &output)
                } else {
                    state.appendJSONLine(of: entry, number: index + 1, to: &output)
                }
            }
            return end < state.entries.count ? end : nil
        }
    }
}

extension Ledger {
    private struct Outcome: Hashable {
        var status: Int
        var label: String
    }

    private struct Entry {
        var id: UUIDBytes
        var payloadHash: UInt64
        var time: Int64
        var tokenStart: Int
        var tokenLength: Int
        var payloadBytes: Int
        var topic: Int
        var outcome: Int
        var connection: Int
        var stream: Int32

        var tokenRange: Range<Int> { tokenStart..<(tokenStart + tokenLength) }
    }

    /// Names by number: each is stored once.
    private struct Interned<Name: Hashable> {
        private(set) var names: [Name] = []
        private var numbers: [Name: Int] = [:]

        /// The number of a name. The last of `limit` names is `overflow`, which all further new names share.
        mutating func index(of name: Name, limit: Int, overflow: Name) -> Int {
            if let known = numbers[name] { return known }
            if names.count >= limit { return names.count - 1 }
            let stored = names.count == limit - 1 ? overflow : name
            numbers[stored] = names.count
            names.append(stored)
            return names.count - 1
        }
    }

    private struct State {
        var entries: [Entry] = []
        var tokens: [UInt8] = []
        var topics = Interned<String>()
        var outcomes = Interned<Outcome>()
        var counts: [Int] = []
        var unlisted = 0

        func record(at index: Int) -> LedgerRecord {
            let entry = entries[index]
            let outcome = outcomes.names[entry.outcome]
            return LedgerRecord(
                token: String(decoding: tokens[entry.tokenRange], as: UTF8.self), id: entry.id,
                topic: topics.names[entry.topic], payloadBytes: entry.payloadBytes, payloadHash: entry.payloadHash,
                time: entry.time, status: outcome.status, label: outcome.label, connection: entry.connection,
                stream: entry.stream)
        }

        func appendCompactLine(of entry: Entry, to output: inout [UInt8]) {
            entry.id.append(to: &output)
            output.append(UInt8(ascii: " "))
            output.append(contentsOf: tokens[entry.tokenRange])
            output.append(UInt8(ascii: " "))
            output.append(contentsOf: String(outcomes.names[entry.outcome].status).utf8)
            output.append(UInt8(ascii: "\n"))
        }

        func appendJSONLine(of entry: Entry, number: Int, to output: inout [UInt8]) {
            let outcome = outcomes.names[entry.outcome]
            output.append(contentsOf: "{\"number\":\(number),\"token\":\"".utf8)
            JSONEscaping.append(tokens[entry.tokenRange], to: &output)
            output.append(contentsOf: "\",\"apns_id\":\"".utf8)
            entry.id.append(to: &output)
            output.append(contentsOf: "\",\"topic\":\"".utf8)
            JSONEscaping.append(topics.names[entry.topic].utf8, to: &output)
            let hash = String(entry.payloadHash, radix: 16)
            let padding = String(repeating: "0", count: 16 - hash.count)
            output.append(contentsOf: "\",\"bytes\":\(entry.payloadBytes),\"fnv1a\":\"\(padding)\(hash)\"".utf8)
            output.append(contentsOf: ",\"time\":\(entry.time),\"status\":\(outcome.status),\"reason\":".utf8)
            if outcome.label.isEmpty {
                output.append(contentsOf: "null".utf8)
            } else {
                output.append(UInt8(ascii: "\""))
                JSONEscaping.append(outcome.label.utf8, to: &output)
                output.append(UInt8(ascii: "\""))
            }
            output.append(contentsOf: ",\"connection\":\(entry.connection),\"stream\":\(entry.stream)}\n".utf8)
        }
    }
}
