import EventLoop
import PushModel
import TestSupport
import Testing
import TraceExport

@testable import PushWorker

@Suite("The page about workers", .timeLimit(.minutes(1)))
struct PageTests {
    @Test("Operating lists the metrics that a worker writes, with their types, and no other")
    func metrics() throws {
        let text = sampleMetrics(isDetailed: true).text(
            sampleSnapshot(), routes: sampleRoutes, fleet: FleetStatus(workers: 2), control: ControlStatus(),
            spans: SpanQueue.Counts())
        let written = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("# TYPE ") }.map { String($0.dropFirst("# TYPE ".count)) }
        let rows = try Page(documentation: "Operating").rows("family", in: "/metrics")
        let listed = rows.flatMap { row in
            // "counter, *sum*": the type comes first.
            Page.quoted(row[0]).map { "\($0) \(row[1].prefix { $0 != "," })" }
        }
        #expect(written.count > 50)
        #expect(listed.sorted() == written.sorted())
    }

    @Test("Operating lists the states and limits of routes, and no other")
    func routes() throws {
        let page = try Page(documentation: "Operating")
        #expect(page.names("state", in: "/readyz").sorted() == RouteState.allCases.map(\.rawValue).sorted())
        #expect(page.names("`limited_by`", in: "/readyz") == RouteLimit.allCases.map(\.rawValue))
    }

    @Test("Operating lists how notifications are sent again, and no other way")
    func repeats() throws {
        let listed = try Page(documentation: "Operating").names("`settlement`", in: "Why notifications are sent again")
        #expect(listed == Repeat.Way.allCases.map(\.rawValue))
    }

    @Test("Operating lists the reasons of what is sent again without an answer, and no other")
    func repeatReasons() throws {
        let attempts: [Attempted] = [
            .unprocessed, .unanswered(.deadline), .unanswered(.reset(code: 1)), .unanswered(.connectionLost),
            .unreachable("away"), .heldBack(.connection("refused")), .response(Answer(status: 302, speaker: .gateway)),
        ]
        let page = try Page(documentation: "Operating")
        let section = "Why notifications are sent again"
        #expect(Set(page.names("`reason`", in: section)) == Set(attempts.compactMap { $0.reason?.rawValue }))
        let most = ReasonCounts<Repeat>.limit
        #expect(page.text(of: section).contains("Past \(most) different series, further reasons count as `other`."))
    }

    @Test("Operating says how much a journal knows, and how long results wait for it")
    func journal() throws {
        let text = try Page(documentation: "Operating").text(of: "Journal")
        let capacity = Page.number(JournalMemory.capacity)
        #expect(JournalMemory.lifetime == 3_600_000)
        #expect(text.contains("The last \(capacity) notifications are known, each for an hour."))
        let patience = Int(JournalPatience.usual / .milliseconds(1))
        #expect(text.contains("Results wait for their note for \(patience) ms at most."))
    }

    @Test("Operating lists the lines of the log that tell of a state that lasts, and of its end")
    func states() throws {
        func looks(
            _ reasons: [String], _ state: RouteState = .ready, stranger: String? = nil, refusal: String? = nil
        ) -> WorkerReadiness {
            WorkerReadiness(
                instance: "w", reasons: reasons, lane: nil,
                routes: [
                    .init(name: "shop", state: state.rawValue, connections: 0, stranger: stranger, refusal: refusal)
                ])
        }
        let troubles = [
            looks(["blocked"]), looks([], .parked), looks([], refusal: "results_full"),
            looks([], stranger: "an answer was status 302"),
        ]
        let told = troubles.map { trouble in
            var log = StateLog()
            return [looks([]), trouble, trouble, looks([])].enumerated().flatMap { index, look in
                log.look(look, now: MonotonicTime(nanoseconds: UInt64(index + 1) * 10_000_000_000))
            }.map { $0.message.replacing(": `martlet status` says what to do", with: "") }
        }
        let rows = try Page(documentation: "Operating").rows("while it lasts (`warning`)", in: "Logs")
        // The first line of each says that the worker is ready.
        #expect(told.map { Array($0.dropFirst()) } == rows.map { $0.compactMap { Page.quoted($0).first } })
    }
}
