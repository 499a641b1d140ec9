import Foundation
import PushWorker
import TestSupport
import Testing
import Topology

@testable import MartletCommands

@Suite("The page about the status of a fleet", .timeLimit(.minutes(1)))
struct StatusPageTests {
    private let page: Page

    init() throws { page = try Page(documentation: "Operating") }

    /// A status in which every list has something but that of commands, which are described elsewhere.
    private static func status() throws -> JSON {
        let facts = StatusFixture.facts(reports: [
            StatusFixture.report("w-1") { $0.failures = [.init(outcome: "rejected", reason: "BadTopic", count: 2)] }
        ]) {
            $0.letters = [.init(queue: "apns.q.dead", outcome: "rejected", reason: "BadTopic", count: 1)]
            $0.queue("apns.q.dead") { $0.ready = 1 }
            $0.activity.queues[0].members = ["rabbit@one"]
            $0.activity.queues.append(.init(name: "apns.q.retry.hold.6h", ready: 3, bytes: 700))
        }
        return try JSON(reading: facts.json(StatusDiagnosis(facts: facts).findings).bytes)
    }

    /// The names of members as the page writes them: `[]` behind lists, and what is in a list behind its name.
    private static func names(of value: JSON) -> [String] {
        let members = value.members.isEmpty ? value.elements.first?.members ?? [] : value.members
        return members.flatMap { name, value in
            if case .array = value { return ["\(name)[]"] + names(of: value) }
            return [name]
        }
    }

    /// What a cell names, without the words that stand in brackets as examples and without options.
    private static func names(in cell: String) -> [String] {
        var cell = cell
        while let brackets = cell.firstMatch(of: /\([^()]*\)/) { cell.replaceSubrange(brackets.range, with: "") }
        return Page.quoted(cell).filter { !$0.hasPrefix("--") }
    }

    @Test("Operating lists the members of a status, in their order, and no other")
    func members() throws {
        let status = try Self.status()
        let rows = page.rows("member", in: "The whole fleet")
        let roots = status.members.map { name, value in
            if case .array = value { return "`\(name)[]`" }
            return "`\(name)`"
        }
        #expect(rows.map { $0[0] } == roots)
        for (row, member) in zip(rows, status.members) where member.0 != "control" {
            #expect(Self.names(in: row[1]) == Self.names(of: member.1), "\(member.0)")
        }
    }

    @Test("Operating lists the states of workers, and the urgencies of findings")
    func states() throws {
        let rows = page.rows("member", in: "The whole fleet")
        func words(_ member: String, _ name: String) throws -> Set<String> {
            let cell = try #require(rows.first { $0[0] == "`\(member)[]`" })[1]
            let behind = try #require(cell.components(separatedBy: "`\(name)` (").last?.split(separator: ")").first)
            return Set(Page.quoted(String(behind)))
        }
        let facts = StatusFixture.facts(reports: [
            StatusFixture.report("a"), StatusFixture.report("b") { $0.reasons = ["blocked"] },
            StatusFixture.report("c") { $0.isDraining = true }, StatusFixture.report("d", ago: 60_000),
        ])
        let workers = try JSON(reading: facts.json([]).bytes)["workers"]?.elements ?? []
        #expect(try words("workers", "state") == Set(workers.compactMap { $0["state"]?.text }))
        #expect(try words("findings", "urgency") == Set(StatusFinding.Urgency.allCases.map(\.rawValue)))
    }

    /// What a finding's detail has, by the row of the table that is about it.
    private static let details = [
        "node": ["does not run", "short of memory", "disk is nearly full"], "queue: no leader": ["no leader"],
        "queue: missing": ["missing: "], "operator policy": ["it sets on"],
        "exchange, queue: leads in": ["bound to apns.jobs", "its dead letters go to"], "queue: full": ["% full"],
        "queue: its policy is lost": ["never come back"],
        "workers, queue: no worker takes jobs": ["no worker "],
        "route: parked, unreachable, probing, cannot start": ["parked in", "starting in", "does not push in"],
        "route: RabbitMQ does not take what it publishes": ["RabbitMQ does not take"],
        "route: it pushes, and lacks something": ["it pushes, but"],
        "worker: not ready": ["not ready: "], "worker: said nothing": ["said nothing"],
        "route: jobs wait, paused": ["paused by"], "queue: jobs wait": ["at the present rate"],
        "route: results say hold": ["results say hold"],
        "dead letters, results without a binding, results that nobody reads": [
            "dead letters wait", "went to no other queue", "nobody reads",
        ], "queue: fewer nodes keep it than could": [" where 3 could"],
        "workers of different versions": ["others have"], "route: unknown to a worker": ["it is unknown to"],
        "workers, commands: messages cannot be read": ["cannot be read"],
    ]

    @Test("Operating lists what needs a person, with its urgency, and no other")
    func findings() throws {
        let pause = ControlCommand(
            id: "1", action: .pause, target: .route("shop"), author: "anna", issuedAt: StatusFixture.now - 1)
        let paused = StatusFixture.facts {
            $0.control.heard(pause.json, at: $0.at)
            $0.queue("apns.q.jobs.shop") { $0.ready = 12 }
        }
        let cases = StatusDiagnosisTests.brokerCases + StatusDiagnosisTests.fleetCases
        var urgencies: [String: Set<String>] = [:]
        for finding in (cases.map(\.facts) + [paused]).flatMap({ StatusDiagnosis(facts: $0).findings }) {
            let rows = Self.details.filter { $0.value.contains { finding.detail.contains($0) } }.map(\.key)
            #expect(rows.count == 1, "\(finding.detail): \(rows)")
            for row in rows { urgencies[row, default: []].insert(finding.urgency.rawValue) }
        }
        let rows = page.rows("finding", in: "The whole fleet")
        #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Set(Page.quoted($0[1]))) }) == urgencies)
    }

    @Test("Operating says from where on a queue is full, and how long jobs may wait")
    func limits() throws {
        let rows = page.rows("finding", in: "The whole fleet")
        let full = try #require(rows.first { $0[0] == "queue: full" })
        let shares = [StatusDiagnosis.full, StatusDiagnosis.nearlyFull].map { "\(Int(($0 * 100).rounded())) %" }
        #expect(full[1] == "`now` from \(shares[0]) of its length, `soon` from \(shares[1])")
        let late = try #require(rows.first { $0[0] == "queue: jobs wait" })
        #expect(StatusDiagnosis.longestBacklog == 300 && late[2].contains("more than five minutes"))
    }
}
