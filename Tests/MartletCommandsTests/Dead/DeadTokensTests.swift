import Glibc
import LocalStack
import Rig
import Testing
import Topology

@testable import MartletCommands

@Suite("Device tokens that APNs calls dead, counted and exported", .serialized, .timeLimit(.minutes(3)))
struct DeadTokensTests {
    private static let queue = "apns.q.dead.tokens"
    private let broker: PrivateBroker
    /// When the letters died, in milliseconds since 1970, and how it is printed.
    private static let (died, diedText): (Int64, String) = (1_763_712_800_174, "2025-11-21T08:13:20.174Z")

    init() throws {
        broker = try SharedBroker.broker.get()
        try broker.control(["purge_queue", Self.queue])
    }

    private func tokens(_ arguments: String..., intoFullDevice: Bool = false) throws -> ChildProcess.Outcome {
        try Executable.run(
            ["dead", "tokens"] + arguments, environment: ["MARTLET_BROKER_URI": broker.uri],
            intoFullDevice: intoFullDevice)
    }

    /// A letter as a worker writes it.
    ///
    /// - Parameters:
    ///   - minutes: When it died, after the first.
    ///   - since: The times at which its device tokens died.
    private func letter(
        _ tokens: String..., topic: String = "com.a", action: String? = "drop_token", minutes: Int64 = 0,
        since: String? = nil, indexes: String? = nil
    ) -> OutgoingJob {
        var headers: [(name: String, value: JobHeader)] = [
            ("x-apns-outcome", .text("dead_token")), ("x-apns-reason", .text("Unregistered")),
            ("x-apns-attempt", .integer(1)), ("x-apns-first-attempt-at", .integer(Self.died)),
            ("x-apns-original-routing-key", .text("production.normal.\(topic)")),
            ("x-apns-died-at", .integer(Self.died + minutes * 60_000)), ("x-apns-worker", .text("w")),
        ]
        if let action { headers.append(("x-apns-action", .text(action))) }
        if let since { headers.append(("x-apns-token-invalid-since", .text(since))) }
        if let indexes { headers.append(("x-apns-indexes", .text(indexes))) }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return OutgoingJob(
            routingKey: "dead_token.production.\(topic)", contentType: "application/json",
            messageID: JobIdentifier.new(), headers: headers,
            body: Array(#"{"device_tokens":[\#(list)],"payload":{"aps":{"alert":"secret"}}}"#.utf8),
            notifications: tokens.count)
    }

    private func lines(_ outcome: ChildProcess.Outcome) -> [String] {
        outcome.text.split(separator: "\n").map(String.init)
    }

    @Test("An export has a line for each device token with its latest time, the same each time, and takes nothing")
    func export() throws {
        try broker.bury(
            letter("aa", "bb", "cc", since: "1763712764120,1763712764121", indexes: "0,2"),
            letter("aa", since: "1763712700000"), letter("aa", topic: "com.a.voip"), letter("dd", since: "0"))
        for _ in 0..<2 {
            let outcome = try tokens("--export")
            #expect(outcome.status == 0, "\(outcome.errorText)")
            #expect(
                lines(outcome) == [
                    "aa\tcom.a\tproduction\t2025-11-21T08:12:44.120Z\tdrop_token",
                    "cc\tcom.a\tproduction\t2025-11-21T08:12:44.121Z\tdrop_token",
                    "dd\tcom.a\tproduction\t\(Self.diedText)\tdrop_token",
                    "aa\tcom.a.voip\tproduction\t\(Self.diedText)\tdrop_token",
                ])
            #expect(outcome.errorText.contains("4 of 4 letters in \(Self.queue) looked at"))
        }
        try broker.expect(4, in: Self.queue)

        let json = try tokens("--export", "-o", "json", "--topic", "com.a", "--limit", "1")
        #expect(
            lines(json).first
                == #"{"device_token":"aa","topic":"com.a","environment":"production","dead_since":1763712764120,"#
                + #""token_invalid_since":1763712764120,"reason":"Unregistered","action":"drop_token"}"#)
        #expect(lines(json).count == 2)
    }

    @Test("A time of APNs that is later than the letter counts as the letter's")
    func future() throws {
        try broker.bury(letter("aa", "bb", since: "999999999999999999,1763712764121"))
        #expect(
            lines(try tokens("--export")) == [
                "aa\tcom.a\tproduction\t\(Self.diedText)\tdrop_token",
                "bb\tcom.a\tproduction\t2025-11-21T08:12:44.121Z\tdrop_token",
            ])
    }

    @Test("Without --export no device token is printed, only how many there are")
    func counts() throws {
        try broker.bury(letter("aa", "bb"), letter("aa"), letter("cc", topic: "com.a.voip", action: "hold"))
        #expect(
            lines(try tokens()) == [
                "production   com.a  2 dead, 0 on hold", "production   com.a.voip  0 dead, 1 on hold",
            ])
        #expect(
            lines(try tokens("-o", "json")).last
                == #"{"environment":"production","topic":"com.a.voip","dead_tokens":0,"held_tokens":1}"#)
    }

    @Test("Device tokens on hold are left out and stay in the queue, and so do those that died shortly before")
    func held() throws {
        try broker.bury(
            letter("aa", minutes: -90), letter("bb", minutes: -30), letter("cc", action: "hold"),
            letter("dd", minutes: 1), letter("ee", topic: "com.a.voip", minutes: -30), letter("ff", action: nil),
            // One that was known to be dead before counts as dead.
            letter("aa", action: "hold"))
        let outcome = try tokens("--export", "--drain", "--yes")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        #expect(lines(outcome).map { $0.prefix(2) } == ["aa", "dd", "ee"])
        #expect(outcome.errorText.contains("on hold, and left out: 3 ("), "\(outcome.errorText)")
        #expect(outcome.errorText.contains("7 of 7 letters in \(Self.queue) looked at, 3 taken out"))
        try broker.expect(4, in: Self.queue)

        // A filter does not hide a hold.
        #expect(try lines(tokens("--export", "--older-than", "1000d", "--drain", "--yes")).isEmpty)
        let all = try tokens("--export", "--held", "--drain", "--yes")
        #expect(lines(all).map { $0.hasPrefix("aa\t") && $0.hasSuffix("\thold") }.first == true)
        #expect(lines(all).count == 4 && lines(all).allSatisfy { $0.hasSuffix("\thold") })
        try broker.expect(0, in: Self.queue)
    }

    @Test("A letter leaves its queue only after its lines are written, and never when it cannot be read")
    func drain() throws {
        try broker.bury(letter("aa"), letter("not hexadecimal"))
        let full = try tokens("--export", "--drain", "--yes", intoFullDevice: true)
        #expect(full.status != 0 && full.errorText.contains("cannot write to standard output"))
        #expect(!full.errorText.contains("aa\t"))
        try broker.expect(2, in: Self.queue)
        #expect(try tokens("--export", "--drain").status == 64)
        #expect(try tokens("--drain", "--yes").status == 64)

        let outcome = try tokens("--export", "--drain", "--yes")
        #expect(lines(outcome).count == 1)
        #expect(outcome.errorText.contains("not readable, and left where they are: 1"), "\(outcome.errorText)")
        try broker.expect(1, in: Self.queue)
    }

    @Test("The role of a replayer suffices")
    func role() throws {
        let rights = BrokerRole.replayer.permissions(user: "dead")
        try broker.control(["add_user", "dead", "secret"])
        defer { _ = try? broker.control(["delete_user", "dead"]) }
        try broker.control(["set_permissions", "dead", rights.configure, rights.write, rights.read])
        try broker.bury(letter("aa"))
        let outcome = try Executable.run(
            ["dead", "tokens", "--export", "--drain", "--yes"],
            environment: ["MARTLET_BROKER_URI": "amqp://dead:secret@127.0.0.1:\(broker.port)/"])
        #expect(outcome.status == 0 && lines(outcome).count == 1, "\(outcome.errorText)")
        try broker.expect(0, in: Self.queue)
    }
}
