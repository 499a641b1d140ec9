import PushModel
import Testing
import Text

@testable import PushWorker

@Suite("Results that are gathered", .timeLimit(.minutes(1)))
struct ResultBatchesTests: RouteSuite {
    private static let origin = ResultOrigin(route: "app", worker: "worker-1")

    /// A job as a route takes it in.
    private func job(
        _ id: String, topic: String = "com.example.app", tokens: Int = 2, fields: String = ""
    ) throws -> JobInFlight {
        let route = try route()
        let list = Array(repeating: "\"aa11\"", count: tokens).joined(separator: ",")
        let body = #"{"device_tokens":[\#(list)],"payload":{"aps":{}}\#(fields)}"#
        take(delivery(returns: 0, topic: topic, id: id, body: body), route)
        return try #require(route.devices.waiting.first)
    }

    /// Adds a result of a job.
    private func add(
        _ index: Int, of job: JobInFlight, _ outcome: Outcome = .accepted, detail: String? = nil, isReply: Bool = false,
        note: UInt64? = nil, to batches: inout ResultBatches
    ) -> Bool {
        let final = FinalReport(outcome, .none, detail: detail)
        let report = ResultReport(index: index, final: final, finishedAt: Self.wallClock)
        let content = ResultContent(report: final, finishedAt: Self.wallClock)
        return batches.add(report, content, of: job, isReply: isReply, from: Self.origin, note: note)
    }

    /// Adds a result that fits.
    private func put(
        _ index: Int, of job: JobInFlight, _ outcome: Outcome = .accepted, isReply: Bool = false, note: UInt64? = nil,
        to batches: inout ResultBatches
    ) {
        let isAdded = add(index, of: job, outcome, isReply: isReply, note: note, to: &batches)
        #expect(isAdded)
    }

    /// The jobs that wait for a batch, and for how many results each.
    private func fulfilled(_ batch: ResultBatch) -> [String] {
        var jobs: [String] = []
        batch.takeObligation()?.fulfil { job, count in
            jobs.append("\(String(decoding: job.job.bytes[job.job.jobID], as: UTF8.self)) \(count)")
        }
        return jobs
    }

    /// The ids of a batch's results, in their order.
    private func ids(_ batch: ResultBatch) throws -> [String] {
        try #require(ResultBatchReader.entries(in: batch.body)).map(\.messageID)
    }

    private func id(_ index: Int, of job: JobInFlight) -> String {
        var text: [UInt8] = []
        ResultReport.messageID(of: index, for: job.job).append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test("results with one outcome and topic are one message, in their order, and others are another")
    func keys() throws {
        var batches = ResultBatches(size: 10)
        let (one, two) = (try job("one"), try job("two"))
        let voip = try job("voip", topic: "com.example.app.voip")
        put(0, of: one, to: &batches)
        put(0, of: voip, to: &batches)
        put(1, of: two, to: &batches)
        put(1, of: one, .rejected, to: &batches)
        put(0, of: two, to: &batches)
        let taken = batches.take()
        #expect(batches.isEmpty && batches.take().isEmpty)
        #expect((one.unconfirmed, two.unconfirmed, voip.unconfirmed) == (2, 2, 1))
        let keys = taken.map { String(decoding: $0.routingKey, as: UTF8.self) }
        #expect(
            keys == [
                "accepted.development.com.example.app", "accepted.development.com.example.app.voip",
                "rejected.development.com.example.app",
            ])
        #expect(try ids(taken[0]) == [id(0, of: one), id(1, of: two), id(0, of: two)])
        #expect(fulfilled(taken[0]) == ["one 1", "two 2"])
        #expect((one.unconfirmed, two.unconfirmed) == (1, 0) && fulfilled(taken[0]).isEmpty)
        #expect(try ids(taken[2]) == [id(1, of: one)])
    }

    @Test("a batch is complete with as many results as are wanted, or a thousand where a job wants them")
    func size() throws {
        let many = try job("many", tokens: 25)
        var batches = ResultBatches(size: 10)
        for index in 0..<25 { put(index, of: many, to: &batches) }
        #expect(batches.take().map(\.count) == [10, 10, 5])
        var asked = ResultBatches(size: 1)
        for index in 0..<1_001 { put(index % 25, of: many, to: &asked) }
        let taken = asked.take().map(\.count)
        #expect(taken.reduce(0, +) == 1_001 && taken.allSatisfy { $0 <= 1_000 && $0 > 100 })
    }

    @Test("no body is longer than 64 KiB, and a result that is longer goes out alone without harm to the others")
    func length() throws {
        let many = try job("many", tokens: 100, fields: #","reference":"\#(String(repeating: "r", count: 1_000))""#)
        var batches = ResultBatches(size: 1_000)
        for index in 0..<100 { put(index, of: many, to: &batches) }
        let isAdded = add(0, of: many, detail: String(repeating: "d", count: 66_000), to: &batches)
        #expect(!isAdded)
        put(1, of: many, to: &batches)
        let taken = batches.take()
        #expect(taken.allSatisfy { $0.body.count <= ResultReport.longestBatch && $0.count > 0 })
        #expect(taken[0].body.count > ResultReport.longestBatch - 2_048 && taken.count >= 3)
        #expect(try taken.flatMap { try ids($0) }.count == 101)
    }

    @Test("replies to different jobs are different messages, and no more than some are open at a time")
    func replies() throws {
        var batches = ResultBatches(size: 10)
        let jobs = try (0...ResultBatches.mostOpen).map { try job("job-\($0)") }
        for job in jobs { put(0, of: job, isReply: true, to: &batches) }
        // Its result is not a reply.
        put(0, of: jobs[0], to: &batches)
        // The first was closed for the last, so that its next reply begins another message.
        put(1, of: jobs[0], isReply: true, to: &batches)
        put(1, of: jobs[9], isReply: true, to: &batches)
        let taken = batches.take()
        #expect(taken.filter(\.isReply).map(\.count).reduce(0, +) == jobs.count + 2)
        #expect(taken.filter { $0.job === jobs[0] }.count == 3)
        #expect(taken.first { $0.job === jobs[9] }?.replied.map(\.index) == [0, 1])
    }

    @Test("the message's id follows from its results, and it waits for the latest note of any")
    func identity() throws {
        let job = try job("one", tokens: 3)
        let made = try [[0, 1], [0, 1], [0, 2], [0]].map { (indexes: [Int]) -> UUIDBytes in
            var batches = ResultBatches(size: 10)
            for index in indexes { put(index, of: job, note: UInt64(9 - index), to: &batches) }
            let batch = try #require(batches.take().first)
            #expect(batch.note == 9)
            return batch.id
        }
        #expect(made[0] == made[1] && Set(made).count == 3)
        #expect(made[3] != ResultReport.messageID(of: 0, for: job.job), "a batch is not the result in it")
    }

    @Test("jobs are gathered where the configuration or they themselves want it")
    func wanted() throws {
        let plain = try job("plain")
        let asking = try job("asking", fields: #","results":"batch""#)
        #expect(!ResultBatches(size: 1).takes(plain.job) && ResultBatches(size: 2).takes(plain.job))
        #expect(ResultBatches(size: 1).takes(asking.job))
    }
}
