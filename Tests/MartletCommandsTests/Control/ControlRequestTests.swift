import PushWorker
import Testing

@testable import MartletCommands

@Suite("What operators may ask of all workers", .timeLimit(.minutes(1)))
struct ControlRequestTests {
    private static let now: Int64 = 1_795_548_000_000
    private static let day: Int64 = 86_400_000

    private static func request(
        _ target: ControlCommand.Target = .route("shop"), _ change: (inout ControlRequest) -> Void = { _ in }
    ) -> ControlRequest {
        var request = ControlRequest(action: .pause, target: target, author: "anna@ops1")
        change(&request)
        return request
    }

    @Test("What is possible becomes a command that workers read, with all that was given")
    func commands() throws {
        let paced = try Self.request {
            $0.action = .rate
            $0.perSecond = 0.5
            $0.until = Self.now + 30 * Self.day
            $0.reason = "slow \"please\""
        }.command(id: "c-1", at: Self.now)
        #expect(
            paced
                == ControlCommand(
                    id: "c-1", action: .rate, target: .route("shop"), author: "anna@ops1", issuedAt: Self.now,
                    until: Self.now + 30 * Self.day, reason: "slow \"please\"", perSecond: 0.5))
        #expect(ControlCommand(parsing: paced.json) == paced)
        let cancelled = try Self.request(.campaign("campaign-7/")) {
            $0.action = .cancel
            $0.leavesDeadLetters = true
        }.command(id: "c-2", at: Self.now)
        #expect(cancelled.leavesDeadLetters && cancelled.target == .campaign("campaign-7/") && cancelled.until == nil)
    }

    /// A request that is refused, and what the refusal says.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: ControlRequest
    }

    static let refusals = [
        Refusal(testDescription: "the route's name is empty", request: request(.route(""))),
        Refusal(
            testDescription: #""shop.return" is not the name of a route: 1 to 40 lower-case letters, digits and "-""#,
            request: request(.route("shop.return"))),
        Refusal(testDescription: "the beginning of references is empty", request: request(.campaign(""))),
        Refusal(testDescription: "--author is empty", request: request { $0.author = "" }),
        Refusal(testDescription: "--reason is empty", request: request { $0.reason = "" }),
        Refusal(
            testDescription: "--reason is longer than 512 bytes",
            request: request { $0.reason = String(repeating: "ü", count: 257) }),
        Refusal(testDescription: "the end is not in the future", request: request { $0.until = now }),
        Refusal(
            testDescription: "the end is more than 30 days away",
            request: request { $0.until = now + 30 * day + 1 }),
        Refusal(
            testDescription: "no worker would read this command",
            request: request {
                $0.action = .rate
                $0.perSecond = 0
            }),
    ]

    @Test("What is not possible is a wrong command line, and says why", arguments: refusals)
    func refused(_ refusal: Refusal) {
        let failure = #expect(throws: CommandFailure.self) {
            try refusal.request.command(id: "c-1", at: Self.now)
        }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains(refusal.testDescription) == true, "\(failure?.message ?? "")")
    }

    @Test(
        "A short prefix needs a question, and one without a slash at its end a hint",
        arguments: [
            ("c", true, true), ("c7/", true, false), ("campaign-7", false, true), ("campaign-7/", false, false),
        ])
    func prefixes(_ prefix: String, _ isAsked: Bool, _ isHinted: Bool) {
        let request = Self.request(.campaign(prefix))
        #expect((request.question != nil) == isAsked)
        #expect((request.hint != nil) == isHinted)
        #expect(Self.request(.route(prefix)).question == nil && Self.request(.route(prefix)).hint == nil)
    }

    @Test("A route that is not configured is refused, with the nearest name; campaigns are not routes")
    func routes() throws {
        try Self.request().check(against: ["chat", "shop"])
        try Self.request(.campaign("nothing-like-it")).check(against: ["shop"])
        let near = #expect(throws: CommandFailure.self) {
            try Self.request(.route("shpo")).check(against: ["chat", "shop"])
        }
        #expect(near?.status == .usage)
        #expect(near?.message == "the configuration has no route \"shpo\". Did you mean \"shop\"?")
        let far = #expect(throws: CommandFailure.self) { try Self.request().check(against: ["mail"]) }
        #expect(far?.message == "the configuration has no route \"shop\".")
    }

    @Test(
        "A rate is a number of notifications a second, or off",
        arguments: [
            ("500/s", 500), ("0.5/s", 0.5), ("1000000/s", 1_000_000), ("1000001/s", -1), ("0/s", -1),
            ("0.001/s", 0.001), ("0.0009/s", -1), ("500", -1), ("500/m", -1), ("-5/s", -1), ("1e3/s", -1), ("/s", -1),
            ("nan/s", -1), ("", -1), ("on", -1),
        ] as [(String, Double)])
    func rates(_ text: String, _ rate: Double) {
        #expect(RateArgument(argument: text)?.perSecond ?? -1 == rate)
    }

    @Test("Off is a rate of its own")
    func off() {
        #expect(RateArgument(argument: "off") != nil && RateArgument(argument: "off")?.perSecond == nil)
    }
}
