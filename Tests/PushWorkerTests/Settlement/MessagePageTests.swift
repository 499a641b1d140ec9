import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushWorker
@testable import RabbitMQ

@Suite("The pages about messages that a worker writes", .timeLimit(.minutes(1)))
struct MessagePageTests: RouteSuite {
    /// A job for two devices that says all that a copy repeats.
    private func job() throws -> JobInFlight {
        let (early, late) = (Self.wallClock - 1_000, Self.wallClock + 3_600_000)
        let body = """
            {"device_tokens":["aa11","bb22"],"deadline":\(late),"not_before":\(early),"payload":{"aps":{}}}
            """
        let route = try route()
        take(delivery(returns: 0, body: body), route)
        return try #require(route.devices.waiting.first)
    }

    private func rendered(_ content: Publication.Content, of job: JobInFlight) throws -> OutgoingMessage {
        var message = OutgoingMessage()
        let publication = Publication(job: job, route: 0, content: content)
        publication.isRepublished = true
        renderer.render(publication, into: &message)
        return message
    }

    private func headers(_ message: OutgoingMessage) -> [String] { message.headers.map { text($0.name, in: message) } }

    @Test("Answers lists the headers of a retry copy, and no other")
    func copies() throws {
        let message = try rendered(.retry(tier: 0, attempt: 2, indexes: [1]), of: job())
        let listed = try Page(documentation: "Answers").names("header", in: "Retries")
        #expect(listed.sorted() == headers(message).sorted())
    }

    /// A message with one result, as a result or as a reply.
    private func batch(isReply: Bool) throws -> OutgoingMessage {
        let job = try job()
        let final = FinalReport(.accepted, .none)
        let content = ResultContent(report: final, finishedAt: Self.wallClock)
        let report = ResultReport(index: 0, final: final, finishedAt: Self.wallClock)
        let origin = ResultOrigin(route: "app", worker: "worker-1")
        let batch = ResultBatch(for: report, of: job, isReply: isReply, from: origin)
        #expect(batch.add(report, content, of: job, from: origin, note: nil))
        batch.close()
        return try rendered(.batch(batch, isReply ? .exchange : nil), of: job)
    }

    @Test("Results lists the properties and headers of a message with several results, and no other")
    func batches() throws {
        let rows = try Page(documentation: "Results").rows("part", in: "Several results in a message")
        let parts = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        let named: [(OutgoingMessage.Property, String)] = [
            (.contentType, "`content_type`"), (.type, "`type`"), (.messageID, "`message_id`"),
            (.correlationID, "`correlation_id`"),
        ]
        for isReply in [false, true] {
            let message = try batch(isReply: isReply)
            let set = OutgoingMessage.Property.allCases.filter { !message.text(of: $0).isEmpty }
            #expect(Set(set).subtracting(named.map(\.0)) == [])
            for (property, name) in named {
                let cell = try #require(parts[name])
                #expect(set.contains(property) == (isReply || !cell.hasPrefix("in a reply only")), "\(name)")
            }
            for (property, name) in named.prefix(2) {
                #expect(parts[name] == "`\(text(message.text(of: property), in: message))`")
            }
            let written = headers(message).map { "header `\($0)`" }
            #expect(parts.keys.filter { $0.hasPrefix("header") } == written)
        }
    }

    @Test("Results says what an entry of several results has beside a result's fields, and how long a message may be")
    func entries() throws {
        let text = try Page(documentation: "Results").text(of: "Several results in a message")
        let fields = [BatchField.messageID, .correlationID, .traceparent].map { "`\($0.name)`" }
        #expect(text.contains("An entry has three more fields: \(fields[0]), and \(fields[1]) and \(fields[2]) where"))
        #expect(text.contains("A message has at most \(Page.number(ResultReport.longestBatch)) bytes."))
    }

    /// The names of the properties by the bits of their flags (AMQP 0-9-1, 1.8.1).
    private static let properties = [
        15: "content_type", 14: "content_encoding", 12: "delivery_mode", 11: "priority", 10: "correlation_id",
        9: "reply_to", 8: "expiration", 7: "message_id", 6: "timestamp", 5: "type", 4: "user_id", 3: "app_id",
    ]

    /// A message with all of them.
    private static var everything: [UInt8] {
        let flags: UInt16 = properties.keys.reduce(0) { $0 | 1 << UInt16($1) }
        var bytes = [UInt8(flags >> 8), UInt8(flags & 255)]
        for bit in properties.keys.sorted(by: >) {
            switch bit {
            case 11, 12: bytes += [2]
            case 6: bytes += [UInt8](repeating: 0, count: 7) + [1]
            default: bytes += [1, UInt8(ascii: "x")]
            }
        }
        return bytes
    }

    /// The names of the properties that a message has.
    private static func names(in message: OutgoingMessage) -> Set<String> {
        Set(properties.filter { message.flags & 1 << UInt16($0.key) != 0 }.values)
    }

    @Test("Producers lists the properties that a reader of messages knows, and no other")
    func jobProperties() throws {
        let bytes = Self.everything
        let reader = try MessagePropertyReader(bytes, 0..<bytes.count)
        let known = Mirror(reflecting: reader).children.compactMap(\.label).map { label in
            label.replacing("ID", with: "Id").map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
        }
        #expect(Set(known) == Set(Self.properties.values).union(["headers"]))
        let listed = try Page(documentation: "Producers").names("property", in: "Properties of both forms")
        #expect(listed.sorted() == known.filter { $0 != "headers" }.sorted())
    }

    @Test("A copy leaves out the address at which RabbitMQ closes the channel that publishes it")
    func directReplyTo() throws {
        for (address, isKept) in [("amq.rabbitmq.reply-to", false), ("amq.rabbitmq.reply-to.g1", true), ("q", true)] {
            let bytes: [UInt8] = [1 << 1, 0, UInt8(address.utf8.count)] + Array(address.utf8)
            var copy = OutgoingMessage()
            JobCopy.copy(try MessagePropertyReader(bytes, 0..<bytes.count), of: bytes, to: &copy)
            #expect(Self.names(in: copy).contains("reply_to") == isKept, "\(address)")
        }
    }

    @Test("DeadLetters lists the properties and headers that a letter keeps of its job, and those that are gone")
    func deadLetterProperties() throws {
        let bytes = Self.everything
        var copy = OutgoingMessage()
        JobCopy.copy(try MessagePropertyReader(bytes, 0..<bytes.count), of: bytes, to: &copy)
        let letter = try rendered(.deadLetter(FinalReport(.expired, .none), indexes: nil), of: job())
        let kept = Self.names(in: copy).union(Self.names(in: letter))
        let page = try Page(documentation: "DeadLetters")
        #expect(page.names("property", in: "What is in one").sorted() == kept.sorted())

        let text = page.text(of: "What is in one")
        let gone = try #require(
            text.components(separatedBy: "These are gone: ").last?.components(separatedBy: " The worker adds ").first)
        let prefixes = [BrokerHeader.firstDeathPrefix, BrokerHeader.lastDeathPrefix].map { "\($0)" }
        let headers = [
            BrokerHeader.copies, BrokerHeader.hiddenCopies, BrokerHeader.death, BrokerHeader.deliveryCount,
            BrokerHeader.acquiredCount,
        ].map { "\($0)" }
        // Every message has a delivery mode.
        let dropped = Set(Self.properties.values).subtracting(kept).subtracting(["delivery_mode"])
        #expect(Set(Page.quoted(gone)) == dropped.union(headers + prefixes.map { "\($0)…" }))
        for name in headers + prefixes.map({ "\($0)reason" }) {
            let isGone = JobCopy.isRewritten(Array(name.utf8).span)
            #expect(isGone, "\(name)")
        }
    }
}
