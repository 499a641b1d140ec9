import Glibc
import LocalStack
import Testing

@Suite("Private broker", .timeLimit(.minutes(2)))
struct PrivateBrokerTests {
    @Test("A private broker answers, imports definitions, counts, survives a crash and leaves nothing behind")
    func wholeLife() throws {
        let broker = try PrivateBroker.start()
        let definitions = """
            {"rabbit_version": "3.10.8", "queues": [
              {"name": "a.quorum", "vhost": "/", "durable": true, "auto_delete": false,
               "arguments": {"x-queue-type": "quorum"}},
              {"name": "a.classic", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {}}]}
            """
        try broker.importDefinitions(json: Array(definitions.utf8))
        let expected = [
            "a.quorum": QueueCounts(ready: 0, unacknowledged: 0), "a.classic": QueueCounts(ready: 0, unacknowledged: 0),
        ]
        #expect(try broker.queueCounts() == expected)

        let first = broker.processID
        broker.crash()
        #expect(!Probe.answers(port: broker.port))
        try broker.restart()
        #expect(broker.processID != first)
        #expect(try broker.queueCounts() == expected)

        let path = broker.directory.path
        broker.stop()
        #expect(access(path, F_OK) != 0)
        #expect(!Probe.answers(port: broker.port))
        #expect(broker.processID == 0)
    }
}
