import EventLoop
import Logging
import Synchronization
import TestSupport
import Testing

@testable import PushWorker
@testable import WorkerSettings

@Suite("The reader of operators' commands", .timeLimit(.minutes(1)))
struct ControlReaderTests {
    @Test("A broker that goes away while reports of dead tokens are read costs the connection, and nothing else")
    func lostWhileLearning() async throws {
        let connections = Mutex(0)
        let broker = try FakeBroker(
            FakeBroker.Behaviour(hangsUp: { request in
                connections.withLock { $0 = max($0, request.connection) }
                // The first consumer of a connection reads the reports, as often as they may be tried.
                return request.connection <= 2 && request.classID == 60 && request.methodID == 20
            }))
        defer { broker.stop() }
        let (announced, feed) = AsyncStream.makeStream(of: ControlState.self)
        let reader = ControlReader(
            "test",
            surroundings: ControlReader.Surroundings(
                broker: broker.configuration, isWorking: { true }, isConnected: { true },
                announce: { feed.yield($0) }, consuming: { [:] }, deal: { _ in }, deadTokens: [:]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        _ = try LoopThread.start(name: "control") { reader.run() }
        defer { reader.stop() }
        var states = announced.makeAsyncIterator()
        #expect(await states.next() == ControlState())
        #expect(connections.withLock { $0 } == 3)
    }

    @Test("The log tells what was asked for before once all of it is read, and nothing that a later command takes back")
    func told() {
        let lines = LogLines()
        let announced = Mutex<[Bool]>([])
        let broker = BrokerConfiguration(
            uris: [], allowsPlaintext: false, heartbeat: .seconds(15), tls: BrokerTLSConfiguration())
        let reader = ControlReader(
            "test",
            surroundings: ControlReader.Surroundings(
                broker: broker, isWorking: { true }, isConnected: { true },
                announce: { state in announced.withLock { $0.append(state.isWhole) } }, consuming: { [:] },
                deal: { _ in },
                deadTokens: [:]),
            logger: lines.logger)
        var teller = ControlReader.Teller(learner: DeadTokenLearner([:]))
        /// What the log tells of operators when commands are told that were read by a time, without the metadata.
        func tell(_ reading: inout ControlReading, at seconds: Int) -> [String: Int] {
            let earlier = lines.lines(from: .notice).count
            reading.tick(now: Self.time(seconds))
            #expect(reading.isUsable)
            reader.tell(&reading, &teller)
            let new = lines.lines(from: .notice)[earlier...]
            #expect(!new.contains { $0.contains("c-1/") })
            return Dictionary(grouping: new) { String($0.prefix { $0 != "[" }) }.mapValues(\.count)
        }
        for isNews in [true, false] {
            var reading = ControlReading(now: Self.time(0), lastOffset: 26)
            reading.heard(Self.command(.cancel, "c-1/"), offset: 0, now: Self.time(0), wall: 0)
            for number in 1...25 {
                let pause = Self.command(.pause, "p-\(number)/")
                reading.heard(pause, offset: Int64(number), now: Self.time(0), wall: 0)
            }
            #expect(tell(&reading, at: 5) == [:])
            reading.heard(Self.command(.resume, "c-1/"), offset: 26, now: Self.time(6), wall: 0)
            let told = [
                "an operator asked all workers for something ": 20,
                "operators asked all workers for more than the log tells ": 1,
            ]
            #expect(tell(&reading, at: 6) == (isNews ? told : [:]), "another connection reads the same once more")
            reading.heard(Self.command(.pause, "p-26/"), offset: 27, now: Self.time(7), wall: 0)
            #expect(tell(&reading, at: 7) == ["an operator asks all workers for something ": 1])
        }
        #expect(announced.withLock { $0 } == [false, true, true, false, true, true])
    }

    private static func time(_ seconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64(seconds) * 1_000_000_000)
    }

    private static func command(_ action: ControlCommand.Action, _ campaign: String) -> ControlCommand {
        ControlCommand(
            id: "\(action) \(campaign)", action: action, target: .campaign(campaign), author: "anna", issuedAt: 0)
    }
}
