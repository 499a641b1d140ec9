import EventLoop
import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("What the lanes of a route ask each other", .timeLimit(.minutes(1)))
struct LaneQuestionsTests: RouteSuite {
    /// Other lanes, which keep what they are told.
    private final class Others {
        /// Lanes that have ended.
        var ended: Set<Int> = []
        /// What was said, and to which lane.
        private(set) var told: [(lane: Int, message: RouteMessage)] = []

        /// The other lanes, as lane 1 knows them.
        func peers(of route: Int? = 7, lanes: [Int] = [0, 1, 2]) -> RoutePeers {
            RoutePeers(of: route, on: 1, lanes: lanes) { [self] lane, message in
                guard !ended.contains(lane), case .route(7, let message) = message else { return false }
                told.append((lane, message))
                return true
            }
        }

        /// What lanes were answered.
        var answers: [Bool] {
            told.compactMap { said in
                guard case .answered(_, let isKnown) = said.message else { return nil }
                return isKnown
            }
        }
    }

    private func job() throws -> JobInFlight {
        let route = try route()
        take(delivery(returns: 0), route)
        return try #require(route.devices.waiting.first)
    }

    @Test("a route tells all its other lanes, and the route that answers jobs nobody claims tells none")
    func peers() {
        let others = Others()
        #expect(others.peers().tellOthers(.suspectsChanged) == 2 && others.told.map(\.lane) == [0, 2])
        others.ended = [2]
        #expect(others.peers().tellOthers(.suspectsChanged) == 1)
        #expect(others.peers(of: nil).tellOthers(.suspectsChanged) == 0)
    }

    @Test("a delivery waits for the answers of all lanes that are there, and for none where there are none")
    func asks() throws {
        let job = try job()
        let others = Others()
        var alone = LaneQuestions(among: others.peers(lanes: [1]))
        let asksNobody = alone.ask(about: job, isCopy: false, now: 0)
        #expect(!asksNobody && alone.isEmpty)

        var questions = LaneQuestions(among: others.peers())
        let asks = questions.ask(about: job, isCopy: false, now: 0)
        #expect(asks && !questions.isEmpty && others.told.map(\.lane) == [0, 2])
        let first = questions.answered(job.deliveryTag, isKnown: false)
        let second = questions.answered(job.deliveryTag, isKnown: false)
        #expect(first == nil && second?.job === job && second?.isKnown == false && questions.isEmpty)

        others.ended = [0, 2]
        let asksTheGone = questions.ask(about: job, isCopy: false, now: 0)
        #expect(!asksTheGone && questions.isEmpty)
    }

    @Test("a lane without the job answers at once, and one that may have it once its channel has proved alive")
    func answers() throws {
        let others = Others()
        let peers = others.peers()
        var questions = LaneQuestions(among: peers)
        let (job, intake) = (try job(), DeliveryIntake())
        let delivery = peers.here(job, try #require(job.redeliveryKey))
        var ledger = DeliveryLedger()
        ledger.begin(generation: 1)
        let knowsNothing = questions.answer(delivery, isCopy: false, ledger: ledger, intake: intake, at: Self.moment(1))
        #expect(!knowsNothing && others.answers == [false])
        questions.turnEnded(isProving: false)

        ledger.took(job)
        let mayHave = questions.answer(delivery, isCopy: false, ledger: ledger, intake: intake, at: Self.moment(1))
        #expect(mayHave && others.answers.count == 1)
        // A sign of life that was asked for before says nothing about this question.
        questions.channelProved()
        #expect(others.answers.count == 1)
        questions.turnEnded(isProving: true)
        questions.channelProved()
        #expect(others.answers == [false, false])
    }

    @Test("a lane whose channel is gone answers everything")
    func gone() throws {
        let others = Others()
        let peers = others.peers()
        var questions = LaneQuestions(among: peers)
        let (job, intake) = (try job(), DeliveryIntake())
        let delivery = peers.here(job, try #require(job.redeliveryKey))
        var ledger = DeliveryLedger()
        ledger.begin(generation: 1)
        ledger.took(job)
        for isProving in [true, false] {
            _ = questions.answer(delivery, isCopy: false, ledger: ledger, intake: intake, at: Self.moment(1))
            questions.turnEnded(isProving: isProving)
        }
        #expect(others.answers.isEmpty)
        questions.channelGone()
        #expect(others.answers == [false, false])
        questions.channelGone()
        #expect(others.answers.count == 2, "once each")
    }
}
