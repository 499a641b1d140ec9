import Glibc
import LocalStack
import Rig
import Testing

@testable import MartletCommands

@Suite("Commands against a broker", .serialized, .timeLimit(.minutes(3)))
struct CommandBrokerTests {
    let broker: PrivateBroker

    init() throws {
        broker = try SharedBroker.broker.get()
    }

    /// Runs the program against the broker.
    private func martlet(_ arguments: String..., input: String = "") throws -> ChildProcess.Outcome {
        try Executable.run(arguments, input: input, environment: ["MARTLET_BROKER_URI": broker.uri])
    }

    /// A connection of the test's own.
    func link() throws -> CommandConnection {
        try CommandConnection.open(BrokerSettings(uri: broker.uri))
    }

    /// Publishes to an exchange and expects every message to find a queue.
    func publish(_ messages: [OutgoingJob], to exchange: String) throws {
        let link = try link()
        defer { link.close() }
        var confirmed = 0
        for message in messages {
            try link.publish(message, exchange: exchange, replyTo: nil) { confirmed += $0.kind == .confirmed ? 1 : 0 }
        }
        try link.finishPublishing { confirmed += $0.kind == .confirmed ? 1 : 0 }
        #expect(confirmed == messages.count)
    }

    /// A result as a worker publishes it.
    func result(_ outcome: String, job: String) -> OutgoingJob {
        let body = """
            {"job_id":"\(job)","index":0,"outcome":"\(outcome)","reason":null,"topic":"com.a",\
            "environment":"production","attempt":1,"apns_ms":5,"queue_ms":1}
            """
        return OutgoingJob(
            routingKey: "\(outcome).production.com.a", contentType: "application/json", messageID: "m-\(job)",
            body: Array(body.utf8), notifications: 1)
    }

    /// Pushes one job for two devices and waits, while the one notification is accepted and the other rejected.
    ///
    /// - Parameters:
    ///   - id: The job's identifier.
    ///   - start: Starts the push with arguments, and a file for what it writes.
    /// - Returns: What the push wrote.
    func push(_ id: String, start: ([String], String) throws -> ChildProcess) throws -> String {
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
        let output = try TemporaryDirectory()
        let process = try start(
            [
                "push", "a1", "b2", "--topic", "com.a", "--environment", "production", "--alert", "x", "--id", id,
                "--wait", "--wait-timeout", "30s",
            ], output.file("out"))
        let link = try link()
        defer { link.close() }
        try link.consume("apns.q.jobs.shop", prefetch: 1)
        let job = try #require(try link.next(timeout: .seconds(30)))
        let replyTo = try #require(job.replyTo)
        #expect(replyTo.hasPrefix("apns.q.reply.guest."))
        var replies = [result("accepted", job: id), result("rejected", job: id)]
        for index in replies.indices {
            replies[index].routingKey = replyTo
            replies[index].messageID = "\(id)-\(index)"
            let text = String(decoding: replies[index].body, as: UTF8.self)
            replies[index].body = Array(text.replacing("\"index\":0", with: "\"index\":\(index)").utf8)
        }
        try publish(replies, to: "apns.replies")
        try link.acknowledge(job, upToHere: false)
        #expect(process.wait(timeout: .seconds(30)) == .exited(1))
        return try ChildProcess.run("/bin/cat", [output.file("out")]).text
    }

    @Test("One job is queued under its key, in both forms, and the job id is printed")
    func pushOne() throws {
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
        let first = try martlet(
            "push", "a1", "--topic", "com.a", "--environment", "production", "--alert", "x", "--id", "j1")
        #expect(first.text == "queued  j1  production.normal.com.a\n")
        #expect(first.status == 0)
        let second = try martlet(
            "push", "a1", "--topic", "com.a.voip", "--environment", "production", "--class", "high", "--payload", "-",
            "--raw", "--id", "j2", "--output", "json", input: "{}")
        #expect(second.text == #"{"id":"j2","routing_key":"production.high.com.a.voip","state":"confirmed"}"# + "\n")
        try broker.expect(2, in: "apns.q.jobs.shop")

        let link = try link()
        defer { link.close() }
        try link.consume("apns.q.jobs.shop", prefetch: 10)
        let enveloped = try #require(try link.next(timeout: .seconds(10)))
        #expect(enveloped.contentType == "application/json")
        let raw = try #require(try link.next(timeout: .seconds(10)))
        #expect(raw.contentType == "application/vnd.apns.payload+json")
        #expect(raw.header("apns-device-token") == "a1")
        #expect(raw.body == Array("{}".utf8))
        try link.acknowledge(raw, upToHere: true)
    }

    @Test("Every readable line of a file is queued, and the unreadable ones are told with their numbers")
    func pushMany() throws {
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
        var lines = (0..<5000).map { #"{"id":"l\#($0)","device_token":"\#(1_000 + $0)","payload":{}}"# }
        lines[2500] = "broken"
        let outcome = try martlet(
            "push", "--jobs", "-", "--topic", "com.a", "--environment", "production",
            input: lines.joined(separator: "\n"))
        #expect(outcome.status == 1)
        #expect(outcome.errorText.contains("standard input:2501: "))
        #expect(outcome.errorText.contains("published 4 999, confirmed 4 999, unreadable 1"))
        try broker.expect(4999, in: "apns.q.jobs.shop")
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
    }

    @Test("Waiting ends with the results of every notification, and tells the rejected ones by its status")
    func pushAndWait() throws {
        let lines = try push("w1") { arguments, file in
            try ChildProcess.start(
                Executable.path, arguments, environment: ["MARTLET_BROKER_URI": broker.uri], output: .file(file))
        }.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last?.contains("rejected") == true)
    }

    @Test("Waiting for programs prints results, and nothing of another shape among them")
    func pushAndWaitForPrograms() throws {
        let lines = try push("w2") { arguments, file in
            try ChildProcess.start(
                Executable.path, arguments + ["-o", "json"], environment: ["MARTLET_BROKER_URI": broker.uri],
                output: .file(file))
        }.split(separator: "\n")
        let results = try lines.map { try JSON(reading: Array($0.utf8)) }
        #expect(results.map { $0["outcome"]?.text } == ["accepted", "rejected"])
        #expect(results.allSatisfy { $0["job_id"]?.text == "w2" })
        #expect(Set(results.map { $0.members.map(\.0) }).count == 1, "one shape")
    }

    @Test("Waiting in vain says that nobody consumes from the job's queue, where the management API can be asked")
    func pushToNobody() throws {
        let broker = try PrivateBroker.start(PrivateBrokerOptions(management: true))
        try broker.importDefinitions(json: SharedBroker.definitions)
        let output = try TemporaryDirectory()
        let process = try ChildProcess.start(
            Executable.path,
            ["push", "a1", "--topic", "com.a", "--environment", "production", "--alert", "x", "--wait"],
            environment: ["MARTLET_BROKER_URI": broker.uri, "MARTLET_BROKER_MANAGEMENT": broker.managementURI],
            output: .file(output.file("out")), error: .file(output.file("errors")))
        var text = ""
        while text.isEmpty, process.wait(timeout: .milliseconds(100)) == nil {
            text = try ChildProcess.run("/bin/cat", [output.file("errors")]).text
        }
        #expect(text.hasPrefix("apns.q.jobs.shop has no consumer, so its jobs wait: start a worker"), "\(text)")
        process.terminate()
    }

    @Test("A refused login is told apart from a broker that is not there, and the password is not repeated")
    func refused() throws {
        let outcome = try Executable.run(
            ["results", "--broker", "amqp://guest:secret@127.0.0.1:\(broker.port)/"])
        #expect(outcome.status == 77, "\(outcome.errorText)")
        #expect(!outcome.errorText.contains("secret"))
        let missing = try martlet("dead", "list", "--queue", "no.such.queue")
        #expect(missing.status == 69)
        #expect(missing.errorText.contains("list_queues"), "\(missing.errorText)")
        #expect(!missing.errorText.contains("topology apply"))
        let unmade = try martlet("results", "--drain", "--yes", "--queue", "apns.q.results.nobodys")
        #expect(unmade.status == 69)
        #expect(unmade.errorText.contains("martlet topology apply"), "\(unmade.errorText)")
    }

    @Test("Draining takes what passes the filter, leaves the rest, and never happens unasked")
    func drain() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try publish(
            ["accepted", "rejected", "accepted"].enumerated().map { result($1, job: "d\($0)") }, to: "apns.results")
        let unasked = try martlet("results", "--drain")
        #expect(unasked.status == 64)
        #expect(unasked.errorText.contains("--yes"))
        let rejected = try martlet("results", "--drain", "--yes", "--outcome", "rejected", "--output", "json")
        #expect(rejected.status == 0)
        #expect(rejected.text.split(separator: "\n").count == 1)
        #expect(rejected.text.contains(#""job_id":"d1""#))
        try broker.expect(2, in: "apns.q.results")
        let strangers = (0..<2500).map { index in
            var stranger = result("accepted", job: "s\(index)")
            stranger.body = Array("no result".utf8)
            return stranger
        }
        try publish(strangers + [result("expired", job: "last")], to: "apns.results")
        let rest = try martlet("results", "--drain", "--yes", "--summary")
        #expect(rest.text.contains("accepted          2   66.6 %"))
        #expect(rest.errorText.contains("2 500 messages are not results"))
        try broker.expect(2500, in: "apns.q.results")
    }

    @Test("What draining prints is gone from the queue, and nothing else is")
    func drainAll() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try publish((0..<300).map { result("accepted", job: "a\($0)") }, to: "apns.results")
        let some = try martlet("results", "--drain", "--yes", "--count", "90", "--output", "json")
        #expect(some.text.split(separator: "\n").count == 90)
        try broker.expect(210, in: "apns.q.results")
        let rest = try martlet("results", "--drain", "--yes", "--output", "json")
        #expect(rest.text.split(separator: "\n").count == 210)
        try broker.expect(0, in: "apns.q.results")
    }

    @Test("Draining to a full disk or a closed pipe takes nothing that was not written")
    func drainNowhere() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try publish((0..<100).map { result("accepted", job: "n\($0)") }, to: "apns.results")
        let drain = ["results", "--drain", "--yes", "--output", "json"]
        let environment = ["MARTLET_BROKER_URI": broker.uri]
        let full = try Executable.run(drain, environment: environment, intoFullDevice: true)
        #expect(full.status == 74, "\(full.errorText)")
        #expect(full.errorText.contains("cannot write to standard output: No space left on device"))
        try broker.expect(100, in: "apns.q.results")
        let list = try Executable.run(
            ["dead", "list", "--queue", "apns.q.results"], environment: environment, intoFullDevice: true)
        #expect(list.status == 74, "\(list.errorText)")
        let summary = try Executable.run(
            ["results", "--drain", "--yes", "--count", "1", "--summary"], environment: environment, intoFullDevice: true
        )
        #expect(summary.status == 74)
        #expect(summary.errorText.contains("accepted          1"), "the counts are told at least once")

        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        let output = try TemporaryDirectory()
        let process = try ChildProcess.start(
            Executable.path, drain, environment: environment, output: .descriptor(ends[1]),
            error: .file(output.file("errors")))
        close(ends[1])
        #expect(process.wait(timeout: .seconds(50)) == .signalled(SIGPIPE))
        #expect(try ChildProcess.run("/bin/cat", [output.file("errors")]).text.isEmpty)
        try broker.expect(99, in: "apns.q.results")
    }

    @Test("Following sees copies of new results that pass the filter, and takes nothing away")
    func follow() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        let output = try TemporaryDirectory()
        let process = try ChildProcess.start(
            Executable.path,
            ["results", "--follow", "--outcome", "expired", "--count", "3", "--timeout", "40s", "--output", "json"],
            environment: ["MARTLET_BROKER_URI": broker.uri], output: .file(output.file("out")))
        var published = 0
        while published < 400 && process.wait(timeout: .milliseconds(100)) == nil {
            try publish(
                [result("expired", job: "f\(published)"), result("accepted", job: "g\(published)")],
                to: "apns.results")
            published += 2
        }
        #expect(process.wait(timeout: .seconds(10)) == .exited(0))
        let lines = try ChildProcess.run("/bin/cat", [output.file("out")]).text.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.contains("expired") })
        try broker.expect(published, in: "apns.q.results")
    }

    @Test("Following and pushing end where their output cannot be written; what was pushed stays pushed")
    func nowhere() throws {
        try broker.control(["purge_queue", "apns.q.results"])
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
        let environment = ["MARTLET_BROKER_URI": broker.uri]
        let push = try Executable.run(
            ["push", "a1", "--topic", "com.a", "--environment", "production", "--alert", "x", "-o", "json"],
            environment: environment, intoFullDevice: true)
        #expect(push.status == 74, "\(push.errorText)")
        try broker.expect(1, in: "apns.q.jobs.shop")
        try broker.control(["purge_queue", "apns.q.jobs.shop"])
        let process = try ChildProcess.start(
            Executable.path, ["results", "--follow", "--timeout", "40s"], environment: environment,
            output: .file("/dev/full"))
        var published = 0
        while published < 400 && process.wait(timeout: .milliseconds(300)) == nil {
            try publish([result("accepted", job: "f\(published)")], to: "apns.results")
            published += 1
        }
        #expect(process.wait(timeout: .zero) == .exited(74))
        try broker.control(["purge_queue", "apns.q.results"])
    }

    @Test("Twenty-five looks at the dead letters lose none and change nothing")
    func dead() throws {
        try broker.control(["purge_queue", "apns.q.dead"])
        let letters = (0..<3).map { index in
            OutgoingJob(
                routingKey: "rejected.production.com.a", contentType: "application/json", messageID: "dead-\(index)",
                headers: [
                    ("x-apns-outcome", .text("rejected")),
                    ("x-apns-reason", .text(index == 1 ? "BadTopic" : "BadPath")),
                    ("x-apns-status", .integer(400)), ("x-apns-attempt", .integer(1)),
                    ("x-apns-original-routing-key", .text("production.normal.com.a")),
                    ("x-apns-died-at", .integer(1_763_712_800_174)),
                ], body: Array(#"{"n":\#(index)}"#.utf8), notifications: 1)
        }
        try publish(letters, to: "apns.dead")
        for round in 0..<25 {
            let list = try martlet("dead", "list")
            #expect(list.text.split(separator: "\n").map { $0.contains("BadTopic") } == [false, true, false])
            guard round % 5 == 0 else { continue }
            let part = try martlet("dead", "list", "--limit", "2")
            #expect(part.text.split(separator: "\n").map { $0.contains("BadTopic") } == [false, true])
            #expect(part.errorText.contains("2 of 3 dead letters in apns.q.dead; 1 more match (--limit)"))
        }
        try broker.expect(3, in: "apns.q.dead")
        let filtered = try martlet("dead", "list", "--reason", "BadTopic", "--output", "json")
        #expect(filtered.text.contains(#""id":"dead-1""#))
        #expect(filtered.text.split(separator: "\n").count == 1)
        let show = try martlet("dead", "show", "dead-2")
        #expect(show.text.hasSuffix("\n{\"n\":2}\n"))
        #expect(show.text.contains("x-apns-died-at: 1763712800174"))
        #expect(try martlet("dead", "show", "dead-9").status == 1)
        try broker.expect(3, in: "apns.q.dead")
    }

    @Test("What producers write cannot command the terminal")
    func hostileText() throws {
        try broker.control(["purge_queue", "apns.q.dead"])
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\nfaked"
        let letter = OutgoingJob(
            routingKey: "rejected.production.com.a", contentType: hostile, messageID: "h\(hostile)",
            headers: [("x-apns-outcome", .text("rejected")), ("x-apns-reason", .text(hostile))],
            body: Array("{\n\"n\": \"\u{1b}\"}".utf8), notifications: 1)
        try publish([letter], to: "apns.dead")
        let list = try martlet("dead", "list")
        #expect(list.text.contains(#"\x1b]0;owned\x07\x9b2J\x0afaked"#), "\(list.text.debugDescription)")
        let show = try martlet("dead", "show", "h")
        #expect(show.text.hasSuffix("\n{\n\"n\": \"\\x1b\"}\n"), "\(show.text.debugDescription)")
        for text in [list.text, show.text] {
            let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
            #expect(controls.isEmpty)
        }
        try broker.control(["purge_queue", "apns.q.dead"])
    }
}
