import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("Connections on demand", .timeLimit(.minutes(1)))
struct OnDemandStateMachineTests {
    private typealias Machine = OnDemandStateMachine
    private static let rest = Machine.idleTimeOfBroadcastChannels
    private static let patience = Machine.patienceOfBroadcastChannels
    /// A host for broadcast channels.
    private static var passing: Machine { Machine(idleTime: rest, patience: patience) }
    /// A host for devices.
    private static var lasting: Machine { Machine(idleTime: rest, patience: nil) }

    private static let second: MonotonicTime = 1_000_000_000

    @Test("nothing is opened before a job wants it")
    func lazy() {
        for start in [Self.passing, Self.lasting] {
            var machine = start
            #expect(machine.next(isWanted: false, isBusy: false, now: 0) == nil && !machine.isOpen)
            #expect(machine.nextDue == nil && !machine.isSettled(isInUse: false, now: 0))
            #expect(machine.next(isWanted: true, isBusy: false, now: 1) == .open && machine.isOpen)
            #expect(machine.next(isWanted: true, isBusy: false, now: 2) == nil, "one opening is enough")
        }
    }

    @Test("what is in use for devices stays, and its jobs wait as long as it takes")
    func stays() {
        var machine = Self.lasting
        _ = machine.next(isWanted: true, isBusy: false, now: 0)
        let waits: [Duration] = [.seconds(1), Self.patience, Self.rest, .seconds(864_000)]
        for wait in waits {
            #expect(machine.isSettled(isInUse: true, now: 0 + wait))
            for (isWanted, isBusy) in [(true, true), (true, false), (false, true)] {
                #expect(machine.next(isWanted: isWanted, isBusy: isBusy, now: 0 + wait) == nil && machine.isOpen)
                #expect(machine.nextDue == nil)
            }
        }
    }

    @Test("a host for devices has nothing to decide while it is in use, nor while it rests before its time is over")
    func settled() {
        var machine = Self.lasting
        _ = machine.next(isWanted: true, isBusy: false, now: 0)
        #expect(machine.isSettled(isInUse: true, now: 10) && !machine.isSettled(isInUse: false, now: 10))
        #expect(machine.next(isWanted: false, isBusy: false, now: 10) == nil)
        #expect(machine.isSettled(isInUse: false, now: 9 + Self.rest))
        #expect(!machine.isSettled(isInUse: false, now: 10 + Self.rest))
        #expect(!machine.isSettled(isInUse: true, now: 20), "a request ends the rest")
        #expect(machine.next(isWanted: true, isBusy: true, now: 20) == nil && machine.nextDue == nil)
        var other = Self.passing
        _ = other.next(isWanted: true, isBusy: false, now: 0)
        #expect(!other.isSettled(isInUse: true, now: 1), "its jobs may give up")
    }

    @Test("a connection that nobody needs is closed after a rest, which any job interrupts")
    func idle() {
        for start in [Self.passing, Self.lasting] {
            var machine = start
            _ = machine.next(isWanted: true, isBusy: false, now: 0)
            #expect(machine.next(isWanted: false, isBusy: true, now: 5) == nil && machine.nextDue == nil)
            #expect(machine.next(isWanted: false, isBusy: false, now: 10) == nil)
            #expect(machine.nextDue == 10 + Self.rest)
            #expect(machine.next(isWanted: false, isBusy: true, now: 20) == nil && machine.nextDue == nil)
            #expect(machine.next(isWanted: false, isBusy: false, now: 30) == nil)
            #expect(machine.next(isWanted: false, isBusy: false, now: 29 + Self.rest) == nil)
            #expect(machine.next(isWanted: false, isBusy: false, now: 30 + Self.rest) == .close && !machine.isOpen)
            #expect(machine.nextDue == nil)
            #expect(machine.next(isWanted: true, isBusy: false, now: 31 + Self.rest) == .open)
        }
    }

    @Test("jobs do not wait for ever for a connection on which nothing moves")
    func stalled() {
        var machine = Self.passing
        _ = machine.next(isWanted: true, isBusy: false, now: 0)
        #expect(machine.nextDue == 0 + Self.patience)
        #expect(machine.next(isWanted: true, isBusy: true, now: 0 + (Self.patience - .nanoseconds(1))) == nil)
        machine.answered()
        #expect(machine.next(isWanted: true, isBusy: true, now: 0 + Self.patience) == nil, "an answer is movement")
        #expect(machine.next(isWanted: true, isBusy: false, now: 1 + Self.patience) == nil)
        #expect(
            machine.next(isWanted: true, isBusy: true, now: 1 + Self.patience * 2) == .giveUp,
            "open requests alone are not")
        #expect(!machine.isOpen)
    }

    @Test(
        "only a missing connection makes jobs give up: not results that cannot be published, not the rate, no refusal",
        arguments: [
            (Machine.Situation(hasWaiting: true), true), (.init(), false),
            (.init(hasWaiting: true, isCongested: true), false), (.init(hasWaiting: true, isWithinRate: false), false),
            (.init(hasWaiting: true, intake: .none), false), (.init(hasWaiting: true, intake: .one), true),
        ])
    func heldBack(situation: OnDemandStateMachine.Situation, givesUp: Bool) {
        var machine = Self.passing
        _ = machine.next(isWanted: true, isBusy: false, now: 0)
        let waits: [Duration] = [
            .nanoseconds(1), Self.patience - .nanoseconds(1), Self.patience, Self.patience * 2,
        ]
        for wait in waits {
            let now: MonotonicTime = 0 + wait
            let action = machine.next(isWanted: situation.wantsConnection, isBusy: true, now: now)
            guard action == nil else {
                #expect(action == .giveUp && givesUp && now == 0 + Self.patience)
                return
            }
        }
        #expect(!givesUp)
        let later: MonotonicTime = 1 + Self.patience * 2
        #expect(machine.next(isWanted: true, isBusy: true, now: later) == nil, "patience begins again")
    }

    @Test("a host that cannot be reached is left alone for a while, and its jobs are told at once")
    func unreachable() {
        var machine = Self.passing
        _ = machine.next(isWanted: true, isBusy: false, now: 0)
        machine.failed(now: Self.second)
        for now in [Self.second, Self.second + .seconds(1), Self.second + (Machine.holdOff - .nanoseconds(1))] {
            #expect(machine.next(isWanted: true, isBusy: false, now: now) == .giveUp)
        }
        #expect(machine.next(isWanted: false, isBusy: false, now: Self.second + .seconds(1)) == nil)
        #expect(machine.next(isWanted: true, isBusy: false, now: Self.second + Machine.holdOff) == .open)
    }
}
