import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about a broker that does not take results", .timeLimit(.minutes(1)))
struct PublisherPageTests: RouteSuite {
    private let text: String

    init() throws { text = try Page(documentation: "Operating").text(of: "When the broker does not take results") }

    /// How long answers are awaited in seconds, one after the other, while none comes.
    private static func waits(_ patience: ConfirmPatience) -> [Int] {
        var (patience, now) = (patience, MonotonicTime(nanoseconds: 1))
        return (0..<8).map { _ in
            guard let due = patience.due(oldest: now) else { return 0 }
            let wait = (due - now).components.seconds
            _ = patience.runsOut(oldest: now, now: due)
            now = due
            return Int(wait)
        }
    }

    @Test("Operating says how a refused publication is tried again, and when a route pushes nothing more")
    func refused() {
        let waits = Backoff.publication
        let range = "\(waits.base / .seconds(1)) to \(waits.cap.components.seconds) s"
        #expect(text.contains("tries one refused publication per wait (\(range))."))
        #expect(text.contains("More than \(Publisher.routeCongestion) waiting publications stop the route's pushes"))
        #expect(text.contains("After \(Publisher.heldUpLimit.components.seconds) s without progress, unsent jobs go"))
    }

    @Test("Operating says how many publications of a route may be unconfirmed, and how long confirms are awaited")
    func unconfirmed() throws {
        #expect(text.contains("none has more than \(PublishWindow<Publication>.mostOfOne) unconfirmed publications"))
        let patience = AnswerPatience(ConfirmPatience())
        let usual = Self.waits(patience.withAll)[0]
        let overtaken = Self.waits(patience.withOvertaken)
        let most = AnswerPatience.mostOvertakers
        #expect(
            text.contains(
                "A publication that is unconfirmed for \(overtaken[0]) s while at least \(most) later ones are "
                    + "confirmed (\(usual) s while fewer are) costs the connection."))
        let longest = try #require(overtaken.max())
        #expect(
            text.contains(
                "The \(overtaken[0]) s double, up to \(longest), each time it happens again within ten minutes."))
        #expect(ConfirmPatience.memory == .seconds(600))
        let slow = Self.waits(patience.withSlow)
        #expect(slow.max() == 120)
        #expect(text.contains("still is replaced after \(slow[0]) s, later after up to two minutes."))
        #expect(text.contains("The worker connects again after \(usual) s and publishes the same again."))
    }
}
