import EventLoop
import TestSupport
import Testing

@testable import APNSClient

@Suite("The pace of connects", .timeLimit(.minutes(1)))
struct ConnectLineTests {
    /// A line with an interval of 10 ns to each host and of 1 ns for all.
    private func line(
        burst: Int = 1, process: ConnectPace = ConnectPace(interval: .nanoseconds(1), burst: 100)
    ) -> ConnectLine {
        ConnectLine(host: ConnectPace(interval: .nanoseconds(10), burst: burst), process: process)
    }

    /// Lets everybody ask at the time they were told, until all are gone.
    ///
    /// - Returns: Who went when.
    private func drain(_ line: inout ConnectLine, _ numbers: [Int], from start: MonotonicTime) -> [Int: MonotonicTime] {
        var due = Dictionary(uniqueKeysWithValues: numbers.map { ($0, start) })
        var gone: [Int: MonotonicTime] = [:]
        while let (number, now) = due.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            let wait = line.ask(number, now: now)
            due[number] = wait == .zero ? nil : now + wait
            if wait == .zero { gone[number] = now }
        }
        return gone
    }

    @Test("A burst passes at once, then one per interval; a pause refills the burst")
    func pace() {
        var pace = ConnectPace(interval: .nanoseconds(10), burst: 3)
        let rows: [(now: MonotonicTime, ahead: Int, wait: Int)] = [
            (100, 0, 0), (100, 0, 0), (100, 1, 10), (100, 0, 0), (100, 0, 10), (100, 2, 30), (109, 0, 1), (110, 0, 0),
            (150, 0, 0), (1_000, 0, 0), (1_000, 0, 0), (1_000, 0, 0), (1_000, 0, 10),
        ]
        for row in rows {
            #expect(pace.wait(now: row.now, ahead: row.ahead) == .nanoseconds(row.wait), "\(row)")
            if row.wait == 0 { pace.take(now: row.now) }
        }
        #expect(!pace.isIdle(now: 1_000))
        #expect(pace.isIdle(now: 2_000))
    }

    @Test("Those who wait go one per interval: the stranded first, then those that grow, then the idle; each in order")
    func order() {
        var line = line()
        let urgencies: [ConnectUrgency] = [.idle, .idle, .growing, .stranded, .idle, .stranded, .growing]
        _ = line.ask(line.enter(host: "a", .idle), now: 90)
        let numbers = urgencies.map { line.enter(host: "a", $0) }
        let gone = drain(&line, numbers, from: 100)
        let order = numbers.indices.sorted { gone[numbers[$0]] ?? 0 < gone[numbers[$1]] ?? 0 }
        #expect(order == [3, 5, 2, 6, 0, 1, 4])
        #expect(gone.values.sorted() == (0..<7).map { MonotonicTime(nanoseconds: 100 + 10 * $0) })
    }

    @Test("A connect that comes late and is more urgent goes before those that were told when they may")
    func overtakes() {
        var line = line()
        let first = line.enter(host: "a", .idle)
        #expect(line.ask(first, now: 100) == .zero)
        let idle = (0..<3).map { _ in line.enter(host: "a", .idle) }
        for (number, wait) in zip(idle, [10, 20, 30]) {
            #expect(line.ask(number, now: 100) == .nanoseconds(wait))
        }
        let stranded = line.enter(host: "a", .stranded)
        #expect(line.ask(stranded, now: 105) == .nanoseconds(5))
        #expect(line.ask(idle[0], now: 110) == .nanoseconds(10), "its place is another's now")
        #expect(line.ask(stranded, now: 110) == .zero)
        #expect(drain(&line, idle, from: 120) == [idle[0]: 120, idle[1]: 130, idle[2]: 140])
    }

    @Test("A connect that becomes urgent goes before the others, and never becomes less urgent")
    func raises() {
        var line = line()
        _ = line.ask(line.enter(host: "a", .idle), now: 100)
        let (one, other) = (line.enter(host: "a", .idle), line.enter(host: "a", .idle))
        #expect(line.ask(other, now: 100) == .nanoseconds(20))
        let raises = [ConnectUrgency.idle, .growing, .stranded, .stranded, .idle].map { line.raise(other, to: $0) }
        #expect(raises == [false, true, true, false, false])
        #expect(line.ask(other, now: 100) == .nanoseconds(10))
        #expect(line.ask(one, now: 110) == .nanoseconds(10))
        #expect(line.ask(other, now: 110) == .zero)
        let isRaised = line.raise(other, to: .stranded)
        #expect(!isRaised, "it has gone")
    }

    @Test("Who leaves the line, or does not ask in time, keeps nobody waiting for ever")
    func absent() {
        var line = line()
        _ = line.ask(line.enter(host: "a", .idle), now: 100)
        let (gone, silent, last) = (
            line.enter(host: "a", .stranded), line.enter(host: "a", .stranded), line.enter(host: "a", .idle)
        )
        #expect(line.ask(last, now: 100) == .nanoseconds(30))
        line.leave(gone)
        #expect(line.ask(last, now: 100) == .nanoseconds(20))
        #expect(line.ask(last, now: 119) == .nanoseconds(1))
        #expect(line.ask(last, now: 120) == .zero, "the silent one could have gone at 110")
        #expect(line.ask(silent, now: 120) == .nanoseconds(10))
        var burst = self.line(burst: 2)
        let (first, second) = (burst.enter(host: "a", .stranded), burst.enter(host: "a", .idle))
        #expect(burst.ask(second, now: 100) == .zero)
        #expect(burst.ask(first, now: 100) == .zero)
    }

    @Test("A long line before one host delays no other, but all share the process's pace")
    func hosts() {
        var line = line(process: ConnectPace(interval: .nanoseconds(10), burst: 3))
        let long = (0..<50).map { _ in line.enter(host: "a", .stranded) }
        #expect(line.ask(long[0], now: 100) == .zero)
        let others = ["b", "c", "d"].map { line.enter(host: $0, .idle) }
        for (number, wait) in zip(others, [0, 0, 10]) {
            #expect(line.ask(number, now: 100) == .nanoseconds(wait))
        }
        #expect(line.ask(others[2], now: 110) == .zero)
    }

    @Test("A place is given up with its last reference, and those who wait are spread a little")
    func places() {
        let limiter = ConnectRateLimiter(
            ConnectRateLimiter.Limits(hostInterval: .seconds(1), hostBurst: 1, processBurst: 100))
        let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var random = SystemRandomNumberGenerator()
        #expect(limiter.enter(host: "a", .idle).ask(now: now, random: &random) == .zero)
        var first: ConnectPlace? = limiter.enter(host: "a", .stranded)
        let second = limiter.enter(host: "a", .idle)
        #expect((.seconds(2)...(.milliseconds(2_250))).contains(second.ask(now: now, random: &random)))
        #expect(first?.raise(to: .idle) == false)
        first = nil
        #expect((.seconds(1)...(.milliseconds(1_250))).contains(second.ask(now: now, random: &random)))
        #expect(second.ask(now: now.adding(.seconds(1)), random: &random) == .zero)
    }
}
