import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("The memory for jobs", .timeLimit(.minutes(1)))
struct MemoryBudgetTests {
    private static let mebibyte = 1 << 20
    /// Half of this is lent: 32 MiB.
    private static let budget = 64 * mebibyte

    @Test(
        "queues that ask for too much together get the same, and those that ask for less get what they ask for",
        arguments: [
            ([], 1 << 39), ([(20, 1)], 1 << 39), ([(25, 1)], 1 << 39), ([(25, 2)], 1 << 24), ([(25, 3)], 1 << 23),
            ([(20, 30), (25, 2)], 1 << 20), ([(20, 14), (25, 2)], 1 << 23), ([(20, 1_000)], 1 << 15),
            ([(12, 100), (30, 1)], 1 << 24), ([(20, 100_000)], 0),
        ] as [([(exponent: Int, queues: Int)], Int)])
    func levels(_ asking: [(exponent: Int, queues: Int)], _ level: Int) {
        var budget = MemoryBudget(bytes: Self.budget, queues: 1)
        for one in asking { budget.ask(for: one.exponent, insteadOf: nil, queues: one.queues) }
        #expect(budget.level == level)
        // What they are given is never more than there is.
        let given = asking.reduce(0) { $0 + $1.queues * min(level, 1 << $1.exponent) }
        #expect(given <= Self.budget / 2)
        for one in asking { budget.ask(for: nil, insteadOf: one.exponent, queues: one.queues) }
        #expect(budget.level == 1 << 39)
    }

    @Test("no more is lent than there is, and what is given back can be lent again")
    func lending() {
        var budget = MemoryBudget(bytes: Self.budget, queues: 4)
        #expect(budget.part == 8 * Self.mebibyte && budget.free == 32 * Self.mebibyte)
        #expect(budget.lend(8 * Self.mebibyte, insteadOf: 0, queues: 3) == 8 * Self.mebibyte)
        #expect(budget.free == 8 * Self.mebibyte)
        #expect(budget.lend(8 * Self.mebibyte, insteadOf: 0, queues: 2) == 4 * Self.mebibyte)
        #expect(budget.lend(1 * Self.mebibyte, insteadOf: 0, queues: 1) == 0)
        #expect(budget.lend(16 * Self.mebibyte, insteadOf: 8 * Self.mebibyte, queues: 3) == 8 * Self.mebibyte)
        #expect(budget.lend(0, insteadOf: 8 * Self.mebibyte, queues: 3) == 0)
        #expect(budget.lend(16 * Self.mebibyte, insteadOf: 4 * Self.mebibyte, queues: 2) == 16 * Self.mebibyte)
        #expect(budget.lent == 32 * Self.mebibyte && budget.free == 0)
    }

    @Test(
        "powers of two are rounded down where they are lent, and up where they are asked for",
        arguments: [
            (0, 0, nil), (1, 0, 12), (4_095, 0, 12), (4_096, 4_096, 12), (4_097, 4_096, 13), (8_191, 4_096, 13),
            (8_192, 8_192, 13), (Int.max, 1 << 39, 39),
        ] as [(Int, Int, Int?)])
    func powers(_ bytes: Int, _ within: Int, _ covering: Int?) {
        #expect(MemoryBudget.powerOfTwo(within: bytes) == within)
        #expect(MemoryBudget.exponent(covering: bytes) == covering)
    }

    @Test("queues that hold more than the budget with one large job each are a problem that is named")
    func problem() {
        #expect(MemoryBudget(bytes: WorkerConfiguration.standardJobMemory, queues: 1_024).problem == nil)
        let problem = MemoryBudget(bytes: WorkerConfiguration.standardJobMemory, queues: 1_028).problem
        #expect(problem?.hasPrefix("memory.jobs is 256MiB, and 1028 queues hold 257MiB with one job") == true)
    }
}
