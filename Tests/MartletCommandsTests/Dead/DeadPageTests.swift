import Foundation
import PushModel
import Rig
import TestSupport
import Testing

@testable import MartletCommands
@testable import RabbitMQ

@Suite("The page about dead letters", .timeLimit(.minutes(1)))
struct DeadPageTests {
    private let page: Page

    init() throws { page = try Page(documentation: "DeadLetters") }

    /// A device token as it is exported.
    private static func token(isHeld: Bool) -> DeadToken {
        DeadToken(
            token: "aa11", place: DeadToken.Place(environment: "production", topic: "com.example.app.voip"),
            invalidSince: 1_763_712_764_120, diedAt: 1_763_712_800_174, reason: "Unregistered", isHeld: isHeld)
    }

    @Test("DeadLetters lists the fields and the columns of an exported device token, and no other")
    func export() throws {
        let rows = page.rows("field of `-o json`", in: "Export dead device tokens")
        let token = Self.token(isHeld: false)
        let fields = token.json.members
        #expect(rows.map { $0[0] } == fields.map { "`\($0.0)`" })
        let columns = String(decoding: token.line, as: UTF8.self).split(separator: "\t").map(String.init)
        var listed: [Int] = []
        for (row, field) in zip(rows, fields) where row[1] != "–" {
            let number = try #require(Int(row[1].prefix { $0.isNumber }), "\(row[1])")
            listed.append(number)
            // The time is written in another way.
            let written = Page.quoted(row[1]).first ?? field.1.text
            try #require(columns.indices.contains(number - 1))
            #expect(columns[number - 1] == written, "\(field.0)")
        }
        #expect(listed.sorted() == Array(1...columns.count))
    }

    @Test("DeadLetters says which actions exported device tokens have, and for how long a later hold counts")
    func holds() throws {
        let rows = page.rows("field of `-o json`", in: "Export dead device tokens")
        let action = try #require(rows.first { $0[0] == "`action`" })[2]
        let actions = [false, true].map { Self.token(isHeld: $0).json["action"]?.text ?? "" }
        #expect(Page.quoted(action) == actions + ["--held"])
        #expect(DeadTokenList.doubtfulMinutes == 60)
        let text = page.text(of: "Export dead device tokens")
        #expect(text.contains("and of letters up to an hour before one that does, for the same topic and environment."))
    }

    @Test("Letters that the broker wrote are listed as DeadLetters says")
    func brokerLetters() throws {
        let section = "Letters that the broker wrote"
        let rows = page.rows("`x-first-death-reason`", in: section)
        let reasons = page.names("`x-first-death-reason`", in: section)
        #expect(reasons.count == 3 && "\(BrokerHeader.firstDeathReason)" == "x-first-death-reason")
        let letters = reasons.map { reason in
            let delivery = Delivery(
                channel: 1, deliveryTag: 1, redelivered: false, bytes: [], exchange: 0..<0, routingKey: 0..<0,
                properties: 0..<0, body: 0..<0, bodySize: 0, isTruncated: false)
            var message = BrokerMessage(delivery)
            message.deaths = [BrokerMessage.Death(queue: "apns.q.jobs.shop", reason: reason)]
            return DeadLetter(message: message, provesDeaths: true)
        }
        for (row, letter) in zip(rows, letters) {
            let result = Page.quoted(row[3])
            #expect(letter.resultOfBrokers.map { [$0.outcome.rawValue, $0.reason.rawValue] } == result)
            #expect(letter.has(outcome: result[0]) && letter.has(reason: result[1]) && !letter.has(outcome: "accepted"))
        }
        let outcomes = letters.map(\.outcome)
        #expect(outcomes == reasons.map { "broker: \($0)" })
        #expect(page.text(of: section).contains("`martlet dead list` shows them as `\(outcomes[0])` and so on."))
    }

    @Test("A letter of the broker died when the broker says, whatever its headers say; a worker's when the worker says")
    func ages() {
        func letter(
            _ headers: [(String, String)], _ queue: String = "apns.q.jobs.shop", time: UInt64?
        ) -> DeadLetter {
            let delivery = Delivery(
                channel: 1, deliveryTag: 1, redelivered: false, bytes: [], exchange: 0..<0, routingKey: 0..<0,
                properties: 0..<0, body: 0..<0, bodySize: 0, isTruncated: false)
            var message = BrokerMessage(delivery)
            message.headers = headers
            message.deaths = [BrokerMessage.Death(queue: queue, reason: "expired", time: time)]
            return DeadLetter(message: message, provesDeaths: true)
        }
        #expect(letter([], time: 1_763_712_800).diedAt == 1_763_712_800_000)
        #expect(letter([], time: nil).diedAt == nil && letter([], time: .max).diedAt == .max)
        let headers = [("\(HeaderName.outcome)", "exhausted"), ("\(HeaderName.diedAt)", "5")]
        #expect(letter(headers, time: 1_763_712_800).diedAt == 1_763_712_800_000)
        #expect(letter(headers, "apns.q.retry.15s", time: 1_763_712_800).diedAt == 5)
        #expect(letter([], "apns.q.retry.15s", time: 1_763_712_800).diedAt == nil)
    }

    @Test("Letters of jobs that came by an untrusted way are replayed only where their reason is asked for")
    func untrusted() {
        let delivery = Delivery(
            channel: 1, deliveryTag: 1, redelivered: false, bytes: [], exchange: 0..<0, routingKey: 0..<0,
            properties: 0..<0, body: 0..<0, bodySize: 0, isTruncated: false)
        var message = BrokerMessage(delivery)
        message.headers = [("\(HeaderName.outcome)", "invalid"), ("\(HeaderName.reason)", "UntrustedSource")]
        func obstacle(isWanted: Bool) -> ReplayedJob.Obstacle? {
            do throws(ReplayedJob.Obstacle) {
                _ = try ReplayedJob(
                    DeadLetter(message: message, provesDeaths: true), name: "r", deadline: nil,
                    includesDeadTokens: true,
                    includesUntrusted: isWanted, now: 0)
                return nil
            } catch {
                return error
            }
        }
        #expect(obstacle(isWanted: false) == .untrusted)
        // This letter has no properties.
        #expect(obstacle(isWanted: true) == .invalid("its properties are damaged"))
    }
}
