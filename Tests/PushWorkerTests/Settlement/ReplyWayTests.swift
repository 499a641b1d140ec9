import Testing
import WorkerSettings

@testable import PushWorker

@Suite("The way of a reply", .timeLimit(.minutes(1)))
struct ReplyWayTests {
    private static let address = "apns.q.reply.shop.1"

    private func step(
        _ way: ReplyWay, _ fate: ConfirmTracker<Publication>.Fate, to address: String = address,
        mayWriteToQueues: Bool = true
    ) -> ReplyWay.Step {
        way.step(after: fate, address: Array(address.utf8).span, mayWriteToQueues: mayWriteToQueues)
    }

    private func words(_ step: ReplyWay.Step) -> String {
        if case .lost(let words) = step { words } else { "\(step)" }
    }

    @Test("what the exchange routes nowhere goes straight to the queue, and no further")
    func ways() {
        #expect(step(.exchange, .confirmed) == .done && step(.queue, .confirmed) == .done)
        #expect(step(.exchange, .returned) == .tryQueue)
        let words = words(step(.queue, .returned))
        #expect(words.contains("declare a queue of that name, or bind a queue to apns.replies"))
    }

    @Test(
        "no queue of Martlet's own is written to straight",
        arguments: [
            ("apns.q.jobs.app", false), ("apns.q.results", false), ("apns.q.dead", false), ("apns.q.retry.2s", false),
            ("apns.q.tap.1", false), ("apns.q.", false), ("apns.q.reply.shop.1", true), ("shop.answers", true),
            ("", true),
        ])
    func ownQueues(_ address: String, _ isTried: Bool) {
        let step = step(.exchange, .returned, to: address)
        #expect((step == .tryQueue) == isTried)
        #expect(isTried || words(step).hasPrefix("was lost: reply_to routes nowhere"))
    }

    @Test("where the broker refused the default exchange, it is not tried again, and the words say so")
    func refusedQueues() {
        for way in [ReplyWay.exchange, .queue] {
            #expect(words(step(way, .returned, mayWriteToQueues: false)).contains("(amq.default)"))
        }
        #expect(step(.exchange, .confirmed, mayWriteToQueues: false) == .done)
    }

    @Test(
        "what else can happen to a reply is told in words",
        arguments: [
            (.perhapsReturned, "may be lost: reply_to routes nowhere"), (.refused, "was lost: the broker refused it"),
            (.abandoned, "may be lost: the broker did not confirm it"), (.unfit, "was lost: it fits no frame"),
        ] as [(ConfirmTracker<Publication>.Fate, String)])
    func losses(_ fate: ConfirmTracker<Publication>.Fate, _ beginning: String) {
        for way in [ReplyWay.exchange, .queue] { #expect(words(step(way, fate)).hasPrefix(beginning)) }
    }

    @Test(
        "direct reply-to is refused with a sentence that says why",
        arguments: [
            ("amq.rabbitmq.reply-to", true), ("amq.rabbitmq.reply-to.g1h2AAZy", true), ("amq.gen-1", false),
            (address, false), ("", false),
        ])
    func directReplyTo(_ address: String, _ isRefused: Bool) throws {
        let refusal = ReplyWay.refusal(of: Array(address.utf8).span, allowed: try ReplyPattern(".*"))
        #expect((refusal != nil) == isRefused)
        #expect(refusal?.contains("does not say whether such a reply arrives") != false)
    }
}
