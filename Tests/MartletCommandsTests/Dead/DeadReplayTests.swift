import Glibc
import LocalStack
import Rig
import Testing
import Topology

@testable import MartletCommands

@Suite("Dead letters published again, and deleted", .serialized, .timeLimit(.minutes(3)))
struct DeadReplayTests {
    let broker: PrivateBroker
    private static let later: Int64 = 4_102_444_800_000

    init() throws {
        broker = try SharedBroker.broker.get()
        try broker.control(["purge_queue", "apns.q.dead"])
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
    }

    /// Runs a subcommand of `martlet dead` against the broker.
    func dead(_ arguments: String...) throws -> ChildProcess.Outcome {
        try Executable.run(["dead"] + arguments, environment: ["MARTLET_BROKER_URI": broker.uri])
    }

    func letter(
        _ id: String, _ outcome: String = "exhausted", diedAt: Int64 = 1_763_712_800_174, fields: String = "",
        more: [(name: String, value: JobHeader)] = []
    ) -> OutgoingJob {
        OutgoingJob(
            routingKey: "\(outcome).production.com.a", contentType: "application/json", messageID: id,
            headers: [
                ("x-apns-outcome", .text(outcome)), ("x-apns-attempt", .integer(6)),
                ("x-apns-first-attempt-at", .integer(1_763_712_800_000)),
                ("x-apns-original-routing-key", .text("production.high.com.a")),
                ("x-apns-died-at", .integer(diedAt)), ("x-apns-worker", .text("w")),
                ("x-shop", .text("kept")),
            ] + more,
            body: Array(#"{"device_tokens":["a1","b2","c3"]\#(fields),"payload":{"aps":{}}}"#.utf8), notifications: 3)
    }

    private func count(_ queue: String) throws -> Int { try broker.queueCounts()[queue]?.ready ?? 0 }

    /// Takes what a queue holds.
    func take(_ count: Int, from queue: String) throws -> [BrokerMessage] {
        let link = try CommandConnection.open(BrokerSettings(uri: broker.uri))
        defer { link.close() }
        try link.consume(queue, prefetch: 100)
        let messages = try (0..<count).map { _ in try #require(try link.next(timeout: .seconds(10))) }
        try link.acknowledge(try #require(messages.last), upToHere: true)
        try link.stopConsuming()
        return messages
    }

    @Test("A letter becomes the job that it was: its key, body and headers, its indexes alone, and the replay's name")
    func job() throws {
        try broker.bury(letter("one", more: [("x-apns-indexes", .text("1-2"))]), letter("two", "rejected"))
        let outcome = try dead("replay", "--outcome", "exhausted", "--name", "again")
        #expect(
            outcome.status == 0 && outcome.errorText.contains("1 of 2 dead letters in apns.q.dead replayed as again"))
        // The name is known before the first job is published.
        #expect(outcome.errorText.hasPrefix("replaying as again\n"), "\(outcome.errorText)")
        try broker.expect(1, in: "apns.q.dead")
        let job = try #require(try take(1, from: "apns.q.jobs.shop").first)
        #expect(job.routingKey == "production.high.com.a" && job.messageID == "one")
        #expect(job.contentType == "application/json")
        let headers = Dictionary(uniqueKeysWithValues: job.headers.map { ($0.name, $0.value) })
        #expect(
            headers.filter { $0.key != "x-apns-enqueued-at" } == [
                "x-shop": "kept", "x-apns-indexes": "1-2", "x-apns-replay": "again",
            ])
        #expect(job.body == letter("one").body)
    }

    @Test("Two letters of one job are two jobs; a job whose id begins so is another one")
    func twoLetters() throws {
        try broker.bury(
            letter("one", more: [("x-apns-indexes", .text("0"))]),
            letter("one", "unknown", more: [("x-apns-indexes", .text("1-2"))]),
            letter("one-2"))
        #expect(try dead("replay", "--id", "one").status == 0)
        try broker.expect(1, in: "apns.q.dead")
        let jobs = try take(2, from: "apns.q.jobs.shop")
        #expect(Set(jobs.map { $0.header("x-apns-indexes") }) == ["0", "1-2"])
    }

    @Test("A replay that is killed half way loses no letter, and the same command replays the rest")
    func killed() throws {
        let ids = Set((0..<40).map { "letter-\($0)" })
        for id in ids { try broker.bury(letter(id)) }
        let replay = try ChildProcess.start(
            Executable.path, ["dead", "replay", "--all", "--name", "again", "--rate", "5"],
            environment: ["MARTLET_BROKER_URI": broker.uri])
        try awaitMessages(atLeast: 5, in: "apns.q.jobs.shop")
        replay.signal(SIGKILL)
        #expect(replay.wait(timeout: .seconds(10)) == .signalled(SIGKILL))
        let published = try count("apns.q.jobs.shop")
        #expect(published < ids.count)
        try awaitMessages(atLeast: ids.count - published, in: "apns.q.dead")

        let rest = try dead("replay", "--all", "--name", "again")
        #expect(rest.status == 0, "\(rest.errorText)")
        try broker.expect(0, in: "apns.q.dead")
        let jobs = try take(try count("apns.q.jobs.shop"), from: "apns.q.jobs.shop")
        #expect(Set(jobs.compactMap(\.messageID)) == ids)
        #expect(jobs.allSatisfy { $0.header("x-apns-replay") == "again" })
        // The letters whose jobs were published but not confirmed are replayed once more: one or two at this rate.
        #expect(jobs.count <= ids.count + 5)
    }

    /// Waits until a queue has so many messages that are ready.
    private func awaitMessages(atLeast least: Int, in queue: String) throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(30))
        while try count(queue) < least { try #require(ContinuousClock.now < deadline, "\(queue) has too few messages") }
    }

    @Test("A letter that came twice is one job; letters that differ are several, also where jobs share an id")
    func copies() throws {
        let again = letter("one", more: [("x-apns-replay", .text("july"))])
        let other = letter("one", more: [("apns-device-token", .text("b2"))])
        try broker.bury(letter("one"), letter("two"), letter("one"), again, letter("one"), other)
        let dry = try dead("replay", "--all", "--dry-run")
        #expect(dry.errorText.contains("4 of 6 dead letters in apns.q.dead would be replayed"), "\(dry.errorText)")
        let replay = try dead("replay", "--all")
        #expect(replay.status == 0 && replay.errorText.contains("4 of 6 dead letters"), "\(replay.errorText)")
        #expect(replay.errorText.contains("2 had come twice: their jobs are published once"), "\(replay.errorText)")
        try broker.expect(0, in: "apns.q.dead")
        try broker.expect(4, in: "apns.q.jobs.shop")
    }

    @Test("What cannot succeed stays, and the command says why")
    func obstacles() throws {
        try broker.bury(
            letter("replayed", more: [("x-apns-replay", .text("again"))]),
            letter("late", fields: #","deadline":1700000000"#),
            letter("stale", fields: #","expiration":1700000000"#),
            letter("tokens", "dead_token"),
            letter("wrong", fields: #","priority":7"#))
        let outcome = try dead("replay", "--all", "--name", "again")
        #expect(outcome.status == 0)
        for text in [
            "0 of 4 dead letters", "1 were replayed under this name and failed again",
            "1 have a deadline that has passed", "1 have an expiration that has passed",
            "1 would be refused again: BadPriority",
        ] { #expect(outcome.errorText.contains(text), "\(text): \(outcome.errorText)") }
        try broker.expect(4, in: "apns.q.dead")
        try broker.expect(0, in: "apns.q.jobs.shop")

        let later = try dead("replay", "--id", "late", "--deadline", "\(Self.later)", "--rate", "100")
        #expect(later.status == 0 && later.errorText.contains("1 of 4 dead letters"), "\(later.errorText)")
        let job = try #require(try take(1, from: "apns.q.jobs.shop").first)
        #expect(job.header("x-apns-deadline") == "\(Self.later)")
    }

    @Test("A filter chooses letters by age and campaign; a dry run changes nothing; purge deletes")
    func filters() throws {
        let now = JobIdentifier.now()
        try broker.bury(
            letter("old", diedAt: now - 7_200_000, fields: #","reference":"campaign-7/1""#),
            letter("new", diedAt: now, fields: #","reference":"campaign-7/2""#),
            letter("other", diedAt: now - 7_200_000, more: [("x-apns-reference", .text("campaign-8/1"))]))
        let dry = try dead("replay", "--campaign", "campaign-7/", "--older-than", "1h", "--dry-run")
        #expect(dry.text.split(separator: "\n").map { $0.contains("  old  ") } == [true])
        #expect(dry.errorText.contains("1 of 3 dead letters in apns.q.dead would be replayed"))
        #expect(try dead("list", "--newer-than", "1h").text.contains("  new  "))
        #expect(try dead("purge", "--campaign", "campaign-8/", "--dry-run").status == 0)
        try broker.expect(3, in: "apns.q.dead")
        #expect(try dead("purge", "--campaign", "campaign-8/").status == 64)
        #expect(try dead("purge", "--yes").status == 64)
        #expect(try dead("replay").status == 64)
        #expect(try dead("replay", "--all", "--rate", "0.001").status == 64)
        #expect(try dead("list", "--config", "worker.yaml").status == 64)
        let purge = try dead("purge", "--older-than", "1h", "--limit", "1", "--yes")
        #expect(purge.errorText.contains("1 of 3 dead letters in apns.q.dead deleted"))
        try broker.expect(2, in: "apns.q.dead")
    }

    @Test("A purge with a rate deletes no faster than that")
    func pacedPurge() throws {
        try broker.bury(letter("one"), letter("two"), letter("three"))
        #expect(try dead("purge", "--all", "--rate", "0.001", "--yes").status == 64)
        let began = ContinuousClock.now
        let purge = try dead("purge", "--all", "--rate", "1", "--yes")
        #expect(purge.status == 0 && purge.errorText.contains("3 of 3 dead letters"), "\(purge.errorText)")
        #expect(began.duration(to: .now) >= .seconds(2), "the second and the third wait a second each")
        try broker.expect(0, in: "apns.q.dead")
    }

    @Test("A job that no queue takes keeps its letter, and the status says that something failed")
    func unroutable() throws {
        // Jobs that no route claims go there; without the queue they come back.
        try broker.control(["delete_queue", TopologyNames.unroutedJobsQueue])
        defer { _ = try? broker.importDefinitions(json: SharedBroker.definitions) }
        var lost = letter("lost")
        lost.headers = lost.headers.map {
            $0.name == "x-apns-original-routing-key" ? ($0.name, .text("production.normal.com.elsewhere")) : $0
        }
        try broker.bury(lost, letter("good"))
        let outcome = try dead("replay", "--all")
        #expect(outcome.status == 1)
        #expect(outcome.errorText.contains("not replayed  lost  no queue is bound to this key"), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("1 of 2 dead letters"))
        try broker.expect(1, in: "apns.q.dead")
        try broker.expect(1, in: "apns.q.jobs.shop")
    }

    @Test("The role of a replayer suffices")
    func role() throws {
        let rights = BrokerRole.replayer.permissions(user: "again")
        try broker.control(["add_user", "again", "secret"])
        defer { _ = try? broker.control(["delete_user", "again"]) }
        try broker.control(["set_permissions", "again", rights.configure, rights.write, rights.read])
        try broker.bury(letter("one"), letter("two", "rejected"))
        let uri = "amqp://again:secret@127.0.0.1:\(broker.port)/"
        let replay = try Executable.run(
            ["dead", "replay", "--id", "one"], environment: ["MARTLET_BROKER_URI": uri])
        #expect(replay.status == 0, "\(replay.errorText)")
        let purge = try Executable.run(["dead", "purge", "--all", "--yes"], environment: ["MARTLET_BROKER_URI": uri])
        #expect(purge.status == 0, "\(purge.errorText)")
        try broker.expect(0, in: "apns.q.dead")
        try broker.expect(1, in: "apns.q.jobs.shop")
    }
}
