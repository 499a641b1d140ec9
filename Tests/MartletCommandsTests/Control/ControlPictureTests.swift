import PushWorker
import Testing

@testable import MartletCommands

@Suite("What stands of what operators asked for, and what was said lately", .timeLimit(.minutes(1)))
struct ControlPictureTests {
    private static let start: Int64 = 1_795_548_000_000

    /// A command, told by its id; the clock of who asks may say anything.
    private static func command(
        _ id: String, _ action: ControlCommand.Action, _ target: ControlCommand.Target = .route("shop"),
        minute: Int64 = 0, until: Int64? = nil, perSecond: Double? = nil
    ) -> ControlCommand {
        ControlCommand(
            id: id, action: action, target: target, author: "anna@ops1", issuedAt: start + minute * 60_000,
            until: until.map { start + $0 * 60_000 }, perSecond: perSecond)
    }

    private static func picture(_ commands: [ControlCommand]) -> ControlPicture {
        var picture = ControlPicture()
        for command in commands { picture.heard(command.json, at: start) }
        return picture
    }

    /// The ids of the rows, with a star before those that stand.
    private static func rows(_ picture: ControlPicture, minute: Int64 = 0, recent: Int = 10) -> [String] {
        picture.rows(at: start + minute * 60_000, recent: recent).map { "\($0.stands ? "*" : "")\($0.command.id)" }
    }

    @Test("The later command about a target stands, whatever the clocks say, and the order is that of the stream")
    func order() {
        let picture = Self.picture([
            Self.command("a", .pause, minute: 9), Self.command("b", .rate, perSecond: 5),
            Self.command("c", .pause, .campaign("c/")), Self.command("d", .resume, minute: 1),
            Self.command("e", .pause, .route("chat")),
        ])
        #expect(Self.rows(picture) == ["a", "*b", "*c", "d", "*e"])
        #expect(picture.standing(at: Self.start).map(\.id) == ["b", "c", "e"])
        #expect(Self.rows(picture, recent: 1) == ["*b", "*c", "d", "*e"])
        #expect(Self.rows(picture, recent: 0) == ["*b", "*c", "*e"])
    }

    @Test("What has ended stands no more")
    func ends() {
        let picture = Self.picture([Self.command("a", .pause, until: 10), Self.command("b", .rate, perSecond: 5)])
        #expect(Self.rows(picture, minute: 9) == ["*a", "*b"])
        #expect(Self.rows(picture, minute: 11) == ["a", "*b"])
    }

    @Test("A rate that is off stands no more")
    func off() {
        #expect(
            Self.rows(Self.picture([Self.command("a", .rate, perSecond: 5), Self.command("b", .rate)])) == ["a", "b"])
    }

    @Test("While a pause is interrupted, the resume stands; afterwards the pause does")
    func interrupted() {
        let picture = Self.picture([
            Self.command("a", .pause), Self.command("b", .rate, perSecond: 5), Self.command("c", .resume, until: 10),
        ])
        #expect(Self.rows(picture, minute: 9) == ["a", "*b", "*c"])
        #expect(Self.rows(picture, minute: 10) == ["*a", "*b", "c"])
    }

    @Test("What is not a command is counted, and what is read again is not news")
    func again() {
        var picture = Self.picture([Self.command("a", .pause), Self.command("b", .resume)])
        picture.heard([1], at: Self.start)
        picture.heard(Array("{}".utf8), at: Self.start)
        #expect(picture.unreadable == 2)
        for command in [Self.command("a", .pause), Self.command("b", .resume)] {
            picture.heard(command.json, at: Self.start)
        }
        #expect(Self.rows(picture) == ["a", "b"])
    }

    @Test("The latest are remembered, and of the earlier ones those that stand")
    func memory() {
        var commands = [Self.command("first", .pause, .route("chat"))]
        for number in 0..<(ControlPicture.mostRecent + 5) { commands.append(Self.command("\(number)", .pause)) }
        let rows = Self.rows(Self.picture(commands), recent: 2)
        let last = ControlPicture.mostRecent + 4
        #expect(rows == ["*first", "\(last - 2)", "\(last - 1)", "*\(last)"])
    }

    @Test(
        "A command reads as a sentence, and says how it is taken back",
        arguments: [
            (
                command("a", .pause, until: 60),
                "route shop: paused by anna@ops1 at 2026-11-24T19:20:00Z until "
                    + "2026-11-24T20:20:00Z", "martlet route resume shop"
            ),
            (command("a", .resume), "route shop: resumed by anna@ops1 at 2026-11-24T19:20:00Z", nil),
            (
                command("a", .resume, until: 60),
                "route shop: resumed by anna@ops1 at 2026-11-24T19:20:00Z until 2026-11-24T20:20:00Z", nil
            ),
            (command("a", .rate), "route shop: no longer held to a rate by anna@ops1 at 2026-11-24T19:20:00Z", nil),
            (
                command("a", .rate, perSecond: 500),
                "route shop: held to 500/s for the whole fleet by anna@ops1 at 2026-11-24T19:20:00Z",
                "martlet route rate shop off"
            ),
            (
                command("a", .rate, perSecond: 0.5),
                "route shop: held to 0.5/s for the whole fleet by anna@ops1 at 2026-11-24T19:20:00Z",
                "martlet route rate shop off"
            ),
            (
                command("a", .cancel, .campaign("a b/")),
                "campaign a b/: cancelled by anna@ops1 at 2026-11-24T19:20:00Z", "martlet campaign resume 'a b/'"
            ),
        ] as [(ControlCommand, String, String?)])
    func sentences(_ command: ControlCommand, _ sentence: String, _ undoing: String?) {
        #expect(command.sentence == sentence)
        #expect(command.undoing == undoing)
        var explained = command
        explained.reason = "APNs trouble"
        #expect(explained.sentence == "\(sentence): APNs trouble")
    }
}
