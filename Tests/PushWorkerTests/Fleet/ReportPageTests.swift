import Foundation
import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about workers' reports", .timeLimit(.minutes(1)))
struct ReportPageTests {
    @Test("Operating lists what a report says of a route's dead tokens, and no other")
    func deadTokens() throws {
        let knowledge = DeadTokenKnowledge(answers: 900, latest: 0.98, usual: 0.02, holds: true, isTrusted: true)
        let report = WorkerReport(
            instance: "w", program: "0", startedAt: 1, sentAt: 2,
            routes: [.init(name: "shop", state: "ready", deadTokens: knowledge)])
        let object = try JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any]
        let routes = try #require(object?["routes"] as? [[String: Any]])
        let written = try #require(routes.first?["dead_tokens"] as? [String: Any])
        let listed = try Page(documentation: "Operating").names("member", in: "What a new worker learns")
        #expect(listed.sorted() == written.keys.sorted())
    }

    @Test("Operating says how many workers, answers and routes count")
    func limits() throws {
        let page = try Page(documentation: "Operating")
        let learned = page.text(of: "What a new worker learns")
        #expect(learned.contains("of up to \(Page.number(FleetDeadTokens.mostWorkers)) workers."))
        #expect(learned.contains("Each worker counts with its answers, up to \(Int(DeadTokenWatch.latest)) of them."))
        let usual = Page.number(Int(DeadTokenWatch.latest * DeadTokenWatch.history))
        #expect(learned.contains("weighted by the workers' answers, up to \(usual) of each."))
        let many = Page.number(DeadTokenLearner.many)
        #expect(learned.contains("more than \(many) messages, the worker reads a shorter time"))
        for (messages, end) in [(10_000, " messages"), (50_000, " and more")] {
            let age = DeadTokenLearner.age(ofMessages: messages).components.seconds
            #expect(learned.contains("\(Page.number(messages))\(end) the last \(age) s"), "\(messages)")
        }
        let whole = page.text(of: "The whole fleet")
        #expect(whole.contains("A report names up to \(WorkerReport.mostRoutes) routes of its worker"))
        let (shortest, longest) = (WorkerReporter.intervals.lowerBound, WorkerReporter.intervals.upperBound)
        let interval = "every \(shortest.components.seconds) to \(longest.components.seconds) s"
        #expect(whole.contains("\(interval) and where a hold begins or ends"))
        #expect(whole.contains("so that it writes \(WorkerReporter.bytesPerSecond / 1_024) KiB per second."))
    }

    @Test("Operating says how many consumers many routes and workers have")
    func consumers() throws {
        let (workers, routes) = (50, 300)
        // Two for each route that a worker serves. Each worker serves what no route claims.
        let all = Page.number(workers * (routes + 1) * 2)
        let shared = Page.number((routes * RouteAssignment.replicas + workers) * 2)
        let costs = try Page(documentation: "Operating").rows("what", in: "What many routes and workers cost")
        let row = try #require(costs.first { $0[0] == "consumers of \(workers) workers with \(routes) routes" })
        #expect(row[1] == "\(all), or \(shared) with `share` (by calculation)")
    }

    @Test("Operating says how long workers that share the routes wait for each other")
    func patience() throws {
        let text = try Page(documentation: "Operating").text(of: "Many workers")
        func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
        #expect(text.contains("`apns.q.fleet`, one every \(seconds(FleetMembership.reportInterval))."))
        #expect(text.contains("A new worker listens for \(seconds(FleetShare.listeningTime)) before"))
        #expect(text.contains("is served for \(seconds(FleetShare.handoverTime)) more."))
        #expect(text.contains("after \(seconds(FleetShare.patience)); after \(seconds(FleetShare.refusalPatience)) if"))
        #expect(text.contains("and after \(seconds(FleetShare.echoPatience)) if its own reports do not come back."))
    }
}
