import EventLoop
import PushModel
import TestSupport
import Testing
import Text

@testable import APNSClient

@Suite("A connection that gives no sign", .timeLimit(.minutes(1)))
struct SilenceTests {
    typealias Machine = APNSConnectionStateMachine

    /// What happens at a time in milliseconds.
    enum Event: Sendable { case submit, hear, tick, answer }

    @Test(
        "is asked two seconds after a request that found it idle, and gets no more requests a second later",
        arguments: [
            ([(0, .submit), (1_999, .tick)], .noticed(0), 0), ([(0, .submit), (2_000, .tick)], .asked(at(2_000)), 1),
            ([(0, .submit), (2_000, .tick), (2_999, .tick)], .asked(at(2_000)), 1),
            ([(0, .submit), (2_000, .tick), (3_000, .tick)], .silent, 1),
            ([(0, .submit), (2_000, .tick), (3_000, .tick), (9_000, .tick)], .silent, 1),
            // A tick that comes late asks first.
            ([(0, .submit), (9_000, .tick)], .asked(at(9_000)), 1),
            // A sign is enough, at any time, whatever it is.
            ([(0, .submit), (1_000, .hear), (9_000, .tick)], .none, 0),
            ([(0, .submit), (2_000, .tick), (2_500, .hear), (9_000, .tick)], .none, 1),
            ([(0, .submit), (2_000, .tick), (3_000, .tick), (6_000, .hear)], .none, 1),
            // A connection that has work is not asked: after a sign only a request that finds it idle counts.
            ([(0, .submit), (500, .hear), (600, .submit), (9_000, .tick)], .none, 0),
            ([(0, .submit), (500, .hear), (500, .answer), (600, .submit), (2_600, .tick)], .asked(at(2_600)), 1),
            // The oldest request counts.
            ([(0, .submit), (1_900, .submit), (2_000, .tick)], .asked(at(2_000)), 1),
            ([(9_000, .tick)], .none, 0),
        ] as [([(Int, Event)], Machine.Silence, Int)])
    func table(_ events: [(Int, Event)], _ silence: Machine.Silence, _ questions: Int) {
        var machine = APNSConnectionStateMachineTests.open()
        var asked = 0
        for (time, event) in events {
            switch event {
            case .submit: machine.submitted(streamID: 1, now: Self.at(time))
            case .hear: machine.heard()
            case .tick: if machine.silencePassed(now: Self.at(time)) { asked += 1 }
            case .answer: machine.streamEnded(.answered(status: 200), now: Self.at(time))
            }
        }
        #expect(machine.silence == silence && asked == questions)
        #expect(machine.isSilent == (silence == .silent) && (machine.streamLimit == 0) == machine.isSilent)
        #expect(machine.isAdmitting, "it stays open")
        let due: MonotonicTime? =
            switch silence {
            case .none, .silent: nil
            case .noticed(let since): since + .seconds(2)
            case .asked(let since): since + .seconds(1)
            }
        #expect(machine.silenceDue == due)
    }

    private static func at(_ milliseconds: Int) -> MonotonicTime { 0 + .milliseconds(milliseconds) }

    @Test("Silent connections have one substitute a minute, and none is kept that is not needed")
    func substitutes() {
        var random = SplitMix64(seed: 1)
        var pool = APNSPoolStateMachine(.fixed(2))
        for second in 0..<2 {
            #expect(pool.wantsConnect(now: 0 + .seconds(second)) == true)
            pool.connected()
        }
        pool.fellSilent()
        pool.fellSilent()
        #expect(pool.live == 0 && pool.silent == 2)
        #expect(pool.wantsConnect(now: 0 + .seconds(100)) == true)
        pool.connected()
        #expect(pool.wantsConnect(now: 0 + .seconds(159)) == false)
        #expect(pool.nextDue == 0 + .seconds(160))
        #expect(pool.wantsConnect(now: 0 + .seconds(160)) == true)
        // A connect that failed is no substitute. The usual wait follows.
        pool.connectFailed(now: 0 + .seconds(161), random: &random)
        #expect(pool.wantsConnect(now: 0 + .seconds(162)) == true)
        pool.connected()
        pool.cameBack()
        #expect(pool.surplus == 1 && !pool.isAwaiting)
        pool.silentEnded()
        #expect(pool.silent == 0 && pool.live == 3)
    }

    @Test("Once no connection is silent, lost ones are replaced as ever")
    func afterwards() {
        var random = SplitMix64(seed: 1)
        var pool = APNSPoolStateMachine(.fixed(1))
        #expect(pool.wantsConnect(now: 0) == true)
        pool.connected()
        pool.fellSilent()
        #expect(pool.wantsConnect(now: 0 + .seconds(1)) == true)
        pool.connected()
        pool.silentEnded()
        pool.lost(wasUseful: true, age: .seconds(1), now: 0 + .seconds(2), random: &random)
        #expect(pool.wantsConnect(now: 0 + .seconds(2)) == true)
    }

    /// A pool that is impatient with silence, and a server that has answered its first push.
    private func ring() throws -> Ring {
        let ring = try Ring {
            $0.silence.beforeQuestion = .milliseconds(200)
            $0.silence.beforeSilence = .milliseconds(200)
        }
        try ring.send(try Jobs.make(), count: 1)
        return ring
    }

    @Test("New requests go to another connection; a late answer counts once and brings the old connection back")
    func lateAnswer() throws {
        let ring = try ring()
        let job = try Jobs.make()
        ring.server.frozen = [0]
        ring.submit(job, tags: 100..<103)
        try ring.turn { ring.server.accepted == 2 && ring.pool.capacity > 0 }
        try ring.send(job, count: 20)
        #expect(ring.server.requests.count { $0.connection == 1 } == 20 && ring.pool.openStreams == 3)
        let silent = try #require(ring.server.connections.first { $0.number == 0 })
        ring.server.frozen = []
        silent.socketIsReady(.readable, now: .now())
        try ring.turn { ring.pool.openStreams == 0 && ring.server.connections.count == 1 }
        #expect(ring.answers.count { $0.tag >= 100 } == 3 && ring.statuses.allSatisfy { $0 == 200 })
        #expect(ring.server.requests.count == 24 && ring.server.accepted == 2)
    }

    @Test("What a silent connection carries ends at its own deadline, and the connection with it")
    func silentForGood() throws {
        let ring = try Ring {
            $0.silence.beforeQuestion = .milliseconds(200)
            $0.silence.beforeSilence = .milliseconds(200)
            $0.requestTimeout = .seconds(2)
            $0.pingTimeout = .seconds(1)
        }
        let job = try Jobs.make()
        try ring.send(job, count: 1)
        // The first PING, whose answer is awaited for less time, is over.
        try ring.turn { ring.pool.status.roundTrip > .zero }
        ring.server.frozen = [0]
        let began = MonotonicTime.now()
        ring.submit(job, tags: 100..<101)
        try ring.turn { ring.server.accepted == 2 && ring.pool.capacity > 0 }
        #expect(ring.pool.openStreams == 1, "it is not given up")
        try ring.send(job, count: 5)
        try ring.turn { ring.answers.contains { $0.tag == 100 } }
        #expect(MonotonicTime.now() - began >= .seconds(2))
        #expect(ring.answers.last { $0.tag == 100 }?.answer.cause == .deadline)
        try ring.turn { ring.pool.connections.all.count == 1 }
        #expect(ring.server.accepted == 2)
    }

    @Test("A sign after the PING is enough, although the request has no answer yet")
    func lateSign() throws {
        let ring = try Ring {
            $0.silence.beforeQuestion = .milliseconds(200)
            $0.silence.beforeSilence = .seconds(40)
        }
        try ring.send(try Jobs.make(), count: 1)
        ring.server.script = { _ in [] }
        ring.server.frozen = [0]
        ring.submit(try Jobs.make(), tags: 100..<101)
        let connection = try #require(ring.pool.connections.all.first)
        try ring.turn { if case .asked = connection.machine.silence { true } else { false } }
        ring.server.frozen = []
        ring.server.connections.first?.socketIsReady(.readable, now: .now())
        try ring.turn { connection.machine.silence == .none }
        #expect(ring.server.accepted == 1 && ring.pool.openStreams == 1 && ring.pool.capacity > 0)
    }

    @Test("It is found silent while its PING is due, too, and has nothing to do in the past")
    func pingIsDue() throws {
        let ring = try Ring {
            $0.silence.beforeQuestion = .milliseconds(200)
            $0.silence.beforeSilence = .milliseconds(200)
            $0.pingInterval = .milliseconds(100)
            $0.pingTimeout = .seconds(50)
        }
        try ring.send(try Jobs.make(), count: 1)
        ring.server.frozen = [0]
        ring.submit(try Jobs.make(), tags: 100..<101)
        try ring.turn { ring.server.accepted == 2 && ring.pool.capacity > 0 }
        let silent = try #require(ring.pool.connections.all.first { $0.machine.isSilent })
        #expect(silent.nextDue > .now())
    }
}
