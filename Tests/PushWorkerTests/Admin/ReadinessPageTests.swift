import EventLoop
import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about readiness", .timeLimit(.minutes(1)))
struct ReadinessPageTests: RouteSuite {
    /// A value of JSON, as far as the page says of which type it is.
    private enum Member: Decodable {
        case value(String)
        case object([String: Member])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if (try? container.decode(Bool.self)) != nil {
                self = .value("boolean")
            } else if (try? container.decode(Double.self)) != nil {
                self = .value("number")
            } else if (try? container.decode(String.self)) != nil {
                self = .value("text")
            } else if (try? container.decode([String].self)) != nil {
                self = .value("list of text")
            } else if let elements = try? container.decode([[String: Member]].self) {
                self = .object(Dictionary(uniqueKeysWithValues: (elements.first ?? [:]).map { ("[].\($0)", $1) }))
            } else {
                let members = try container.decode([String: Member].self)
                self = .object(Dictionary(uniqueKeysWithValues: members.map { (".\($0)", $1) }))
            }
        }

        /// The types of all values below, by their path.
        func types(at path: String = "") -> [String: String] {
            switch self {
            case .value(let type): [path: type]
            case .object(let members):
                members.reduce(into: [:]) { types, member in
                    types.merge(member.value.types(at: path + member.key)) { $1 }
                }
            }
        }
    }

    /// The state of a worker that has something to say of everything.
    private static let readiness = WorkerReadiness(
        instance: "w", reasons: ["blocked"],
        lane: .init(consume: "up", publish: "blocked", detail: "blocked"),
        routes: [
            .init(
                name: "shop", state: "ready", reason: "results_full", connections: 1, credentialVersion: 1,
                limitedBy: "nothing", refusal: "results_full")
        ],
        fleet: .init(workers: 2, detail: "alone"), control: .init(detail: "away", inForce: 1))

    @Test("Operating lists the fields of /readyz with their types, and no other")
    func fields() throws {
        let root = try JSONDecoder().decode(Member.self, from: JSONEncoder().encode(Self.readiness))
        let written = Dictionary(uniqueKeysWithValues: root.types().map { (String($0.dropFirst()), $1) })
        let rows = try Page(documentation: "Operating").rows("field", in: "/readyz")
        let listed = rows.map { row in
            // The words of a choice, or where they are listed, stand for text.
            (Page.quoted(row[0]).joined(), ["boolean", "number", "list of text"].contains(row[1]) ? row[1] : "text")
        }
        #expect(Dictionary(uniqueKeysWithValues: listed) == written)
    }

    @Test("Operating lists the words for a lane's connections, and no other")
    func connections() throws {
        let rows = try Page(documentation: "Operating").rows("field", in: "/readyz")
        func words(_ field: String) -> Set<String> {
            Set(rows.filter { $0[0] == "`lanes[].\(field)`" }.flatMap { Page.quoted($0[1]) })
        }
        let all = Set(LaneStatus.Link.allCases.map(\.rawValue))
        #expect(words("publish") == all)
        // RabbitMQ blocks connections that publish.
        #expect(words("consume") == all.subtracting([LaneStatus.Link.blocked.rawValue]))
    }

    /// What reasons and troubles begin with that stand in a file as literals; `…` is what varies.
    private static func literals(_ file: String) throws -> [String] {
        let code = try SourceCode.text("PushWorker/\(file)").replacing(/\\\([^()"]*\)/, with: "…")
        let places = code.matches(of: /(?:reasons|troubles|closing)(?:\.append\(| \+= [^"\n]*| = )"([^"\\]+)/)
        return places.map { String($0.output.1) }
    }

    /// What readiness says after the broker did not take a publication.
    private func refusals() throws -> Set<String> {
        let route = try route()
        take(delivery(returns: 0), route)
        let job = try #require(route.devices.waiting.first)
        let final = FinalReport(.accepted, .none)
        let contents: [Publication.Content] = [
            .result(index: 0, ResultContent(report: final, finishedAt: Self.wallClock)),
            .retry(tier: 0, attempt: 1, indexes: nil), .deadLetter(final, indexes: nil),
        ]
        let fates: [ConfirmTracker<Publication>.Fate] = [.returned, .refused, .abandoned]
        return Set(
            contents.flatMap { content in
                fates.map { Publication(job: job, route: route.position, content: content).trouble(after: $0) }
            })
    }

    @Test("Operating lists the reasons for which a worker is not ready, and no other")
    func reasons() throws {
        let page = try Page(documentation: "Operating").names("reason", in: "/readyz")
        let words = try refusals()
        let fleet = FleetShare(FleetReport(instance: "w", startedAt: 1), routes: ["shop"], now: 0).status
        #expect(fleet.isUndecided)
        let constants = words.union([WorkerReadiness.draining, fleet.detail ?? ""])
        let beginnings = try ["Worker+Admin.swift", "Lane/LaneStatus.swift", "Broker/Publisher.swift"]
            .flatMap { try Self.literals($0) }
        #expect(words.count == 9 && beginnings.count > 6)
        // The page gives examples for what varies.
        let listed = page.map { reason in
            reason.replacing("route example", with: "route …")
                .replacing(/: …$/, with: ": ")
        }
        #expect(constants.subtracting(listed) == [], "in the code only")
        #expect(beginnings.filter { head in !listed.contains { head.hasPrefix($0) } } == [], "in the code only")
        let unknown = listed.filter { reason in
            !constants.contains(reason) && !beginnings.contains { $0.hasPrefix(reason) }
        }
        #expect(unknown == [], "on the page only")
    }
}
