import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about what operators ask of workers", .timeLimit(.minutes(1)))
struct ControlPageTests {
    private static let section = "A command's message"

    private static func names(in json: [UInt8]) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        return Set(try #require(object).keys)
    }

    @Test("Operating lists the members of a command as the schema and the workers know them, and no other")
    func members() throws {
        let listed = try Page(documentation: "Operating").names("member", in: Self.section)
        #expect(Set(listed).count == listed.count)
        let place = "\(PythonEnvironment.repository)/config/contract/control.schema.json"
        let tree = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: place))) as? [String: Any]
        let properties = try #require(tree?["properties"] as? [String: Any])
        #expect(Set(listed) == Set(properties.keys))

        func command(_ action: ControlCommand.Action, _ target: ControlCommand.Target) -> ControlCommand {
            ControlCommand(
                id: "1", action: action, target: target, author: "anna", issuedAt: 1, until: 2, reason: "why",
                perSecond: action == .rate ? 5 : nil, leavesDeadLetters: action == .cancel)
        }
        let written = try [command(.rate, .route("shop")), command(.cancel, .campaign("c/"))].map {
            try Self.names(in: $0.json)
        }
        #expect(Set(listed) == written[0].union(written[1]))
    }

    @Test("Operating says which actions there are for routes and for campaigns")
    func actions() throws {
        let rows = try Page(documentation: "Operating").rows("member", in: Self.section)
        let cell = try #require(rows.first { $0[0] == "`action`" })[1]
        let parts = cell.components(separatedBy: "; of campaigns ").map { Page.quoted($0) }
        let targets: [ControlCommand.Target] = [.route("shop"), .campaign("c/")]
        #expect(
            parts
                == targets.map { target in
                    ControlCommand.Action.allCases.filter { $0.applies(to: target) }.map(\.rawValue)
                })
    }

    /// What a command asks for, in the words of the page; nil for one that the list below its table explains.
    private static func words(_ action: ControlCommand.Action, of target: String) -> String? {
        switch action {
        case .pause: "\(target) is paused"
        case .resume: "\(target) is resumed"
        case .cancel: "\(target) is cancelled"
        case .trust: "the dead tokens of \(target) are trusted"
        case .rate: nil
        }
    }

    @Test("Operating says what workers do about each command, and about no other")
    func obedience() throws {
        let section = "How workers follow operators"
        let page = try Page(documentation: "Operating")
        let rows = page.rows("asked for", in: section)
        let targets: [(ControlCommand.Target, String)] = [(.route("shop"), "a route"), (.campaign("c/"), "a campaign")]
        let asked = targets.flatMap { target, name in
            ControlCommand.Action.allCases.filter { $0.applies(to: target) }.compactMap { Self.words($0, of: name) }
        }
        #expect(rows.map { $0[0].components(separatedBy: ", or ")[0] }.sorted() == asked.sorted())
        let cancelled = try #require(rows.first { $0[0] == "a campaign is cancelled" })[1]
        #expect(Page.quoted(cancelled) == [Outcome.cancelled.rawValue])
        let trusted = try #require(rows.first { $0[0] == "the dead tokens of a route are trusted" })[1]
        #expect(Page.quoted(trusted) == [PushModel.Action.dropToken.rawValue])
        let text = page.text(of: section)
        #expect(text.contains("Of a `\(ControlCommand.Action.rate.rawValue)` each worker takes the part that"))
        #expect(FleetRates.interval == .seconds(2))
        #expect(text.contains("It asks RabbitMQ for their number every two seconds,"))
        let patience = LaneControl.patience.components.seconds
        #expect(text.contains("It takes them after \(patience) s in any case, and at once where"))
    }

    @Test("Operating says the type, the version and the limits of a command")
    func limits() throws {
        let page = try Page(documentation: "Operating")
        let type = try #require(page.rows("member", in: Self.section).first)
        #expect(type[1] == "`\(ControlCommand.messageType)` and \(ControlCommand.formVersion)")
        let text = page.text(of: Self.section)
        #expect(text.contains("`type` `\(ControlCommand.messageType)`"))
        #expect(text.contains("at most \(ControlCommand.maximumLength >> 10) KiB,"))
        #expect(text.contains("Texts have at most \(ControlCommand.longestText) bytes each."))
        let remembered = page.text(of: "How workers follow operators")
        let most = [ControlState.mostRoutes, ControlState.mostCampaigns].map { Page.number($0) }
        #expect(remembered.contains("At most \(most[0]) routes and \(most[1]) campaigns are remembered."))
    }
}
