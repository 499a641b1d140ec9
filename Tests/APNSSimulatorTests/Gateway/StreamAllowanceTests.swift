import HTTP2
import Testing
import Text

@testable import APNSSimulator

@Suite("How many streams a connection is allowed", .timeLimit(.minutes(1)))
struct StreamAllowanceTests {
    private func limits(shrink: Int = 3, disconnect: Int = 10) -> GatewayLimits {
        var limits = GatewayLimits()
        (limits.errorsUntilShrink, limits.errorsUntilDisconnect) = (shrink, disconnect)
        return limits
    }

    private func allowance(_ limits: GatewayLimits, _ streams: SimulatorConfiguration.Streams = .asAPNs)
        -> StreamAllowance
    {
        StreamAllowance(streams: streams, limits: limits)
    }

    @Test("It grows at the first push that is not an error, shrinks at many errors, and grows again")
    func growth() {
        var allowance = allowance(limits())
        #expect(allowance.note(.error(.badTopic)) == .none)
        #expect(allowance.note(.accepted) == .announce(1000))
        #expect(allowance.note(.accepted) == .none)
        #expect((0..<2).map { _ in allowance.note(.error(.badTopic)) } == [.none, .none])
        #expect(allowance.note(.error(.badTopic)) == .announce(1))
        #expect(allowance.note(.error(.badTopic)) == .none)
        #expect(allowance.note(.neutral) == .none)
        #expect(allowance.note(.accepted) == .announce(1000))
    }

    @Test(
        "410 and failures of the server are not errors",
        arguments: [
            (nil, StreamAllowance.Outcome.accepted), (.unregistered, .neutral), (.expiredToken, .neutral),
            (.internalServerError, .neutral), (.serviceUnavailable, .neutral), (.badTopic, .error(.badTopic)),
            (.tooManyRequests, .error(.tooManyRequests)),
        ] as [(Refusal?, StreamAllowance.Outcome)])
    func outcomes(_ refusal: Refusal?, _ outcome: StreamAllowance.Outcome) {
        #expect(StreamAllowance.Outcome(refusal) == outcome)
    }

    @Test("Too many errors end the connection, sooner for BadDeviceToken, never where that is off")
    func disconnection() {
        func count(_ refusal: Refusal, _ limits: GatewayLimits) -> Int? {
            var allowance = allowance(limits)
            return (1...1000).first { _ in allowance.note(.error(refusal)) == .disconnect(refusal) }
        }
        #expect(count(.badTopic, limits()) == 10)
        #expect(count(.badDeviceToken, limits()) == 3)
        #expect(count(.badTopic, GatewayLimits()) == 200)
        #expect(count(.badDeviceToken, GatewayLimits()) == 50)
        #expect(count(.badDeviceToken, limits(disconnect: 0)) == nil)
    }

    @Test("A sender with a usual share of errors is left alone for ever")
    func ordinary() {
        var allowance = allowance(GatewayLimits())
        var generator = SplitMix64(seed: 1)
        #expect(allowance.note(.accepted) == .announce(1000))
        let steps = (0..<100_000).map { _ in
            allowance.note(generator.fraction() < 0.05 ? .error(.badDeviceToken) : .accepted)
        }
        #expect(steps.allSatisfy { $0 == .none })
    }

    @Test("A fixed number never changes, but connections still end")
    func fixed() {
        var allowance = allowance(limits(), .fixed(7))
        #expect(allowance.note(.accepted) == .none)
        let steps = (0..<10).map { _ in allowance.note(.error(.badTopic)) }
        #expect(steps.dropLast().allSatisfy { $0 == .none })
        #expect(steps.last == .disconnect(.badTopic))
    }

    @Test("An address that opens too many connections waits for the next minute; others do not")
    func churn() {
        var gate = ConnectionGate()
        #expect((0..<4).map { _ in gate.admits("a", now: 0, limit: 3) } == [true, true, true, false])
        #expect(gate.admits("b", now: 0, limit: 3) == true)
        #expect(gate.admits("a", now: 59_999, limit: 3) == false)
        #expect(gate.admits("a", now: 60_000, limit: 3) == true)
        #expect((0..<5000).allSatisfy { _ in gate.admits("c", now: 0, limit: 0) })
    }
}
