import EventLoop
import Logging
import Testing

@testable import PushWorker

@Suite("The log of a worker's state", .timeLimit(.minutes(1)))
struct StateLogTests {
    private static let nextStep = ": `martlet status` says what to do"

    /// Looks at a worker, and gives the lines with the seconds at which they come.
    private func lines(_ looks: [(Int, WorkerReadiness)]) -> [String] {
        var states = StateLog()
        return looks.flatMap { second, readiness in
            states.look(readiness, now: MonotonicTime(nanoseconds: UInt64(second + 1) * 1_000_000_000)).map { line in
                // Each warning ends with the next step.
                #expect(line.message.hasSuffix(Self.nextStep) == (line.level == .warning))
                let message = line.message.replacing(Self.nextStep, with: "")
                let words = [message, line.route, line.detail].compactMap(\.self).joined(separator: " | ")
                return "\(second) \(line.level): \(words)"
            }
        }
    }

    private func worker(
        _ reasons: [String] = [], _ routes: [(name: String, state: RouteState, reason: String?)] = []
    ) -> WorkerReadiness {
        WorkerReadiness(
            instance: "w", reasons: reasons, lane: nil,
            routes: routes.map { name, state, reason in
                .init(
                    name: name, state: state.rawValue, reason: reason, connections: 0,
                    stranger: reason?.hasPrefix("an answer was") == true ? reason : nil,
                    refusal: reason == "results_full" ? reason : nil)
            })
    }

    @Test("A worker is told to be ready once; what does not last is not told")
    func ready() {
        let unready = worker(["lane 0 has not started"])
        #expect(
            lines([(0, unready), (1, unready), (2, worker()), (3, worker()), (4, unready), (5, worker())])
                == ["2 notice: the worker is ready"])
    }

    @Test("What lasts is told after the patience, again each minute, and when it ends, with its length")
    func outage() {
        let looks = (0...130).map { ($0, worker($0 > 0 && $0 < 128 ? ["blocked", "results_full"] : [])) }
        #expect(
            lines(looks) == [
                "0 notice: the worker is ready",
                "4 warning: the worker is not ready | blocked; results_full",
                "64 warning: the worker is not ready | blocked; results_full",
                "124 warning: the worker is not ready | blocked; results_full",
                "128 notice: the worker is ready again | after 127s",
            ])
    }

    @Test("A worker that begins in trouble is told to be ready with how long that took")
    func late() {
        #expect(
            lines((0...5).map { ($0, worker($0 < 5 ? ["blocked"] : [])) }) == [
                "3 warning: the worker is not ready | blocked", "5 notice: the worker is ready | after 5s",
            ])
    }

    @Test(
        "Of a route it tells what it does not say elsewhere",
        arguments: [
            (RouteState.parked, "parked: APNs refuses the credential", "a route takes no jobs"),
            (.parked, nil, "a route takes no jobs"),
            (.ready, "results_full", "RabbitMQ does not take what a route publishes"),
            (.ready, "an answer was status 302", "something else than APNs answers a route's pushes"),
            (.ready, "the next push shows whether APNs accepts the new version", nil), (.ready, nil, nil),
            (.unreachable, "APNs: refused", nil),
            (.starting, "the queue is missing", nil), (.probing, "probing: the next job shows", nil),
            (.unassigned, nil, nil), (.paused, "paused by anna", nil),
        ] as [(RouteState, String?, String?)])
    func routes(state: RouteState, reason: String?, message: String?) {
        let looks = (0...9).map { ($0, worker([], $0 < 9 ? [("a", state, reason), ("b", .ready, nil)] : [])) }
        let told = lines(looks).dropFirst()
        #expect(Array(told) == (message.map { ["3 warning: \($0) | a | \(reason ?? "parked")"] } ?? []))
    }

    @Test("Probes do not end a trouble, another kind of it is told at once, and its length is that of both")
    func oneTrouble() {
        func route(_ second: Int) -> (name: String, state: RouteState, reason: String?) {
            switch second {
            case 0..<6: second.isMultiple(of: 2) ? ("a", .parked, "errors") : ("a", .probing, "a probe")
            case 6..<8: ("a", .ready, "results_full")
            default: ("a", .ready, nil)
            }
        }
        #expect(
            lines((0...8).map { ($0, worker([], [route($0)])) }).dropFirst() == [
                "4 warning: a route takes no jobs | a | errors",
                "6 warning: RabbitMQ does not take what a route publishes | a | results_full",
                "8 notice: RabbitMQ takes what a route publishes again | a | after 8s",
            ])
    }

    @Test(
        "A trouble goes on while its route connects, and is forgotten where others serve the route",
        arguments: [
            (
                RouteState.starting,
                ["3 warning: a route takes no jobs | a | errors", "9 notice: a route takes jobs again | a | after 9s"]
            ),
            (
                .unreachable,
                ["3 warning: a route takes no jobs | a | errors", "9 notice: a route takes jobs again | a | after 9s"]
            ),
            (.unassigned, ["3 warning: a route takes no jobs | a | errors"]),
            (.paused, ["3 warning: a route takes no jobs | a | errors"]),
        ])
    func between(state: RouteState, expected: [String]) {
        let looks = (0...9).map { second in
            let now = second < 5 ? RouteState.parked : second < 9 ? state : .ready
            return (second, worker([], [("a", now, now == .parked ? "errors" : nil)]))
        }
        #expect(Array(lines(looks).dropFirst()) == expected)
    }

    @Test("What stops the whole worker is told once, with the worker")
    func wholeWorker() {
        let looks = (0...9).map {
            ($0, worker($0 < 9 ? ["results_full"] : [], [("a", .ready, $0 < 9 ? "results_full" : nil)]))
        }
        #expect(
            lines(looks) == [
                "3 warning: the worker is not ready | results_full", "9 notice: the worker is ready | after 9s",
            ])
    }

    @Test("A worker that drains says no more")
    func draining() {
        let looks = (0...9).map { ($0, worker($0 == 0 ? [] : ["draining", "blocked"], [("a", .parked, nil)])) }
        #expect(lines(looks) == ["0 notice: the worker is ready"])
    }
}
