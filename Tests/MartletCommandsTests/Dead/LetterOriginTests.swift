import Rig
import Testing

@testable import MartletCommands

@Suite("Who wrote a dead letter", .timeLimit(.minutes(1)))
struct LetterOriginTests {
    private typealias Death = BrokerMessage.Death
    private static let key = "production.normal.com.a"
    private static let forged = "production.normal.com.other"
    private static let shop = death("apns.q.jobs.shop")

    private static func death(_ queue: String, _ exchange: String? = "apns.jobs") -> BrokerMessage.Death {
        BrokerMessage.Death(queue: queue, exchange: exchange, reason: "expired", time: 1)
    }

    /// A letter, and what follows.
    struct Row: CustomTestStringConvertible {
        var what: String
        var exchange = "apns.dead"
        var routingKey: String
        var deaths: [BrokerMessage.Death] = []
        var keptKey: String? = LetterOriginTests.forged
        /// The queue of the account; nil for a worker's letter.
        var account: String?
        var provesDeaths = true
        var key: Result<String, LetterOrigin.Doubt>
        var testDescription: String { what }
    }

    @Test(
        "The broker's own account tells, and in a letter of the broker no key counts that a producer can write",
        arguments: [
            Row(
                what: "a worker's letter", routingKey: "rejected.production.com.a", keptKey: key,
                key: .success(key)),
            Row(
                what: "a worker's letter of a job without a key", routingKey: "invalid.-.-", keptKey: "foo",
                key: .success("foo")),
            Row(
                what: "a job that expired in its queue, with headers like a worker's", routingKey: key, deaths: [shop],
                account: "apns.q.jobs.shop", key: .success(key)),
            Row(
                what: "the same where a producer can write x-death", routingKey: key, deaths: [shop],
                account: "apns.q.jobs.shop", provesDeaths: false, key: .failure(.forgeable(key))),
            Row(
                what: "a worker's letter where a producer can write x-death", routingKey: "rejected.production.com.a",
                keptKey: key, provesDeaths: false, key: .success(key)),
            Row(
                what: "the same without an account", routingKey: key, account: "", key: .failure(.unproven)),
            Row(
                what: "a retry copy", routingKey: key,
                deaths: [death("apns.q.jobs.shop.return", "apns.return"), death("apns.q.retry.15s", "apns.retry.15s")],
                account: "apns.q.jobs.shop.return", key: .success(key)),
            Row(
                what: "a job without a route", routingKey: "invalid.-.-", deaths: [death("apns.q.jobs.unrouted")],
                account: "apns.q.jobs.unrouted", key: .failure(.unproven)),
            Row(
                what: "a job by way of an own exchange", routingKey: forged,
                deaths: [death("apns.q.jobs.other", "apns.q.reply.shop.e")], account: "apns.q.jobs.other",
                key: .failure(.foreignExchange("apns.q.reply.shop.e"))),
            Row(
                what: "a job by way of an own queue's dead letters", routingKey: forged,
                deaths: [death("apns.q.jobs.other"), death("apns.q.reply.shop.dlx", "")], account: "apns.q.jobs.other",
                key: .failure(.foreignQueue("apns.q.reply.shop.dlx"))),
            Row(
                what: "a letter of the broker that was moved", exchange: "", routingKey: "apns.q.parked",
                deaths: [shop], account: "apns.q.jobs.shop", key: .failure(.moved)),
            Row(
                what: "a letter of the broker that passed another queue's dead letters", routingKey: key,
                deaths: [death("apns.q.dead", "apns.dead"), shop], account: "apns.q.jobs.shop", key: .success(key)),
            Row(
                what: "a worker's letter that was moved", exchange: "", routingKey: "apns.q.parked", keptKey: key,
                key: .success(key)),
            Row(
                what: "a worker's letter of a job that was moved", routingKey: "exhausted.production.com.a",
                keptKey: "apns.q.jobs.shop", key: .failure(.moved)),
            Row(
                what: "a worker's letter that tells of its tier", routingKey: "exhausted.production.com.a",
                deaths: [death("apns.q.retry.15s", "apns.retry.15s")], keptKey: key, key: .success(key)),
        ])
    func origin(row: Row) {
        let origin = LetterOrigin(
            exchange: row.exchange, routingKey: row.routingKey, deaths: row.deaths, keptKey: row.keptKey,
            provesDeaths: row.provesDeaths)
        #expect(origin.account.map { $0.queue ?? "" } == row.account)
        #expect(origin.key == row.key)
    }
}
