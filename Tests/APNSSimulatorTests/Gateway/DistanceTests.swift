import EventLoop
import TestSupport
import Testing

@testable import APNSSimulator

@Suite("Distance", .timeLimit(.minutes(1)))
struct DistanceTests {
    let maker: TokenMaker

    init() throws { maker = try TokenMaker() }

    private func milliseconds(since start: MonotonicTime) -> Double {
        Double(MonotonicTime.now().nanoseconds(since: start)) / 1_000_000
    }

    @Test("Bytes come out in order, each after its time, and none before", arguments: [1, 7, 200])
    func line(_ count: Int) {
        var line = DelayLine()
        let start = MonotonicTime(nanoseconds: 1_000_000)
        for index in 0..<count {
            line.append([UInt8(truncatingIfNeeded: index)], due: start.adding(nanoseconds: UInt64(index)))
        }
        #expect(line.count == count && line.nextDue == start)
        #expect(line.take(now: MonotonicTime(nanoseconds: 999_999)) == nil)
        for index in 0..<count {
            #expect(line.take(now: start.adding(nanoseconds: UInt64(index))) == [UInt8(truncatingIfNeeded: index)])
            #expect(line.take(now: start.adding(nanoseconds: UInt64(index))) == nil)
        }
        #expect(line.count == 0 && line.nextDue == nil && !line.isFull)
        line.append([], due: start)
        #expect(line.nextDue == nil)
        line.append([UInt8](repeating: 0, count: DelayLine.capacity), due: start)
        #expect(line.isFull)
    }

    @Test("An answer takes the round trip, and pushes side by side take no longer", arguments: [40, 150])
    func roundTrip(_ milliseconds: Int) async throws {
        try await SimulatorBench.with({ $0.roundTrip = milliseconds }) { simulator in
            let client = try RawClient(simulator)
            let push = try SimulatorBench.push(maker)
            #expect(try client.exchange(push).status == 200)
            try client.wait { client.settings.count == 2 }
            let start = MonotonicTime.now()
            #expect(try client.exchange(push).status == 200)
            #expect(self.milliseconds(since: start) >= Double(milliseconds) - 1)
            let together = MonotonicTime.now()
            let tags = try (0..<20).map { _ in try client.send(push) }
            try client.wait { tags.allSatisfy { client.answers[$0]?.closure != nil } }
            #expect(self.milliseconds(since: together) >= Double(milliseconds) - 1)
            // Only the longer one leaves a busy machine enough time for its own work.
            if milliseconds == 150 { #expect(self.milliseconds(since: together) < 20 * 150) }
        }
    }

    @Test("A connection carries one window in a round trip, and hardly less", arguments: [40, 150])
    func window(_ milliseconds: Int) async throws {
        try await SimulatorBench.with({ $0.roundTrip = milliseconds }) { simulator in
            let push = try SimulatorBench.push(maker).payload(payload(bytes: 1500))
            let count = 400
            func trips() throws -> Double {
                let client = try RawClient(simulator)
                #expect(try client.exchange(push).status == 200)
                try client.wait { client.settings.count == 2 }
                let start = MonotonicTime.now()
                let tags = try (0..<count).map { _ in try client.send(push) }
                try client.wait { tags.allSatisfy { client.answers[$0]?.closure != nil } }
                return self.milliseconds(since: start) / Double(milliseconds)
            }
            // 400 × 1500 bytes are 9.2 windows of 65,535 bytes: the last answer cannot be there before ten round trips.
            let windows = Double(count * 1500) / 65_535
            var least = try trips()
            // Twice as many would be the mark of a window given back by halves, each time; a busy machine's is chance.
            for _ in 0..<4 where milliseconds == 150 && least > windows * 1.8 { least = min(least, try trips()) }
            #expect(least >= windows.rounded(.up) - 0.5)
            if milliseconds == 150 { #expect(least <= windows * 1.8 * Double(Slowness.factor)) }
        }
    }

    @Test("Distance is a connection's own, and goodbyes come from far away, too")
    func own() async throws {
        let yaml = """
            listen: [127.0.0.2]
            connections:
              - { match: { address: 127.0.0.2 }, round_trip: 200ms, goaway: { after_pushes: 1, reason: Shutdown } }
            """
        let scenario = try Scenario(yaml: yaml, name: "s")
        try await SimulatorBench.with({ $0.scenario = scenario }) { simulator in
            let near = try RawClient(simulator)
            let far = try RawClient(simulator, address: "127.0.0.2")
            #expect(try near.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(near.goAways.isEmpty)
            let start = MonotonicTime.now()
            #expect(try far.exchange(try SimulatorBench.push(maker)).status == 200)
            #expect(milliseconds(since: start) >= 199)
            try far.waitForEnd()
            #expect(far.goAways.count == 1)
        }
    }
}
