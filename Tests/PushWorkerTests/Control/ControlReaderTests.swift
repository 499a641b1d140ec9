import EventLoop
import Logging
import Synchronization
import Testing

@testable import PushWorker

@Suite("The reader of operators' commands and a broker that goes away", .timeLimit(.minutes(1)))
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
                announce: { feed.yield($0) }, lanes: { [:] }, deal: { _ in }, deadTokens: [:]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        _ = try LoopThread.start(name: "control") { reader.run() }
        defer { reader.stop() }
        var states = announced.makeAsyncIterator()
        #expect(await states.next() == ControlState())
        #expect(connections.withLock { $0 } == 3)
    }
}
