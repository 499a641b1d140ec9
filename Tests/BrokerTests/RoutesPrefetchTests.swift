import APNSSimulator
import RabbitMQ
import Testing

@Suite("Changes of the prefetch", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RoutesPrefetchTests {
    @Test("A prefetch that changes while jobs are in flight makes the broker deliver none of them again")
    func nothingTwice() async throws {
        // Nothing may be tried again for being late, however slow the machine: what is counted is what the broker
        // repeats.
        let stack = try await BrokerStack.start("prefetch")
        let client = try JobClient(stack)
        defer { client.close() }
        // The first answer lets the connection open a thousand streams instead of one, which changes the prefetch;
        // it comes late enough for the first prefetch to be used up.
        let jobs = (0..<200).map { index in
            let digits = String(index, radix: 16)
            let token = "de1a000300" + String(repeating: "0", count: 54 - digits.count) + digits
            return (job: TestJob.raw(token: .text(token)), correlation: "prefetch \(index)")
        }
        try client.publish(jobs)
        let worker = try stack.startWorker()
        var redelivered = 0
        for job in jobs {
            let result = try client.result(job.correlation).result
            #expect(result.outcome == "accepted")
            if result.redelivered { redelivered += 1 }
        }
        #expect(redelivered == 0)
        #expect(try stack.leftovers() == [:])
        try client.expectNothing(in: "apns.q.results")
        #expect(stack.simulator.ledger.records().count == 200)
        try await worker.stop()
    }
}
