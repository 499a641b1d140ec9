import PushModel
import Text
import WorkerSettings

/// How a worker's memory for jobs is dealt out among the queues that it consumes.
///
/// - One half is divided evenly. Each queue has its part of this half at all times.
/// - The other half is lent to queues that fill their part. Each queue gets what it asks for.
/// - Where queues ask for more than there is, max-min fairness decides: the queues that ask for most get the same, and
///   the others get what they ask for.
/// - Queues ask for powers of two and get powers of two. Only a doubling or halving is a change, and the level is found
///   without a look at each queue.
///
/// Pure.
struct MemoryBudget {
    /// The exponents of the powers of two that a queue may ask for: 4 KiB to 512 GiB. Lending less than 4 KiB is not
    /// worth the trouble.
    static let exponents = 12...39

    /// The whole budget, in bytes.
    let bytes: Int
    /// How many queues there are.
    private(set) var queues: Int
    /// The part that each queue has at all times, in bytes.
    var part: Int { bytes / 2 / queues }
    /// What is lent now, in bytes; never more than half of the budget.
    private(set) var lent = 0
    /// How many queues ask for each power of two, by its exponent.
    private var asking = [Int](repeating: 0, count: Self.exponents.upperBound + 1)

    /// Divides the first half evenly.
    ///
    /// - Parameters:
    ///   - bytes: The whole budget.
    ///   - queues: How many queues there are; 0 counts as 1.
    init(bytes: Int, queues: Int) {
        self.bytes = bytes
        self.queues = max(1, queues)
    }

    /// Divides the first half evenly among another number of queues; 0 counts as 1.
    mutating func divide(among queues: Int) { self.queues = max(1, queues) }

    /// What there is to lend, in bytes.
    private var common: Int { bytes / 2 }

    /// A text for people that says why the queues may hold more than the budget; nil if the queues cannot. Each queue
    /// takes one job of any size, because a route would stand still otherwise.
    var problem: String? {
        let least = queues * JobDecoder.maximumBodyLength
        guard least > bytes else { return nil }
        return
            "memory.jobs is \(SizeText.write(bytes)), and \(queues) queues hold \(SizeText.write(least)) with one job "
            + "of the largest size each: set memory.jobs to that, or serve fewer routes with one worker, if jobs are "
            + "that large"
    }

    /// The most that a queue may be lent, in bytes: a power of two, or 0 if too many queues ask.
    var level: Int {
        var (level, below, above) = (0, 0, asking.reduce(0, +))
        for exponent in Self.exponents {
            let bytes = 1 << exponent
            guard below + above * bytes <= common else { break }
            level = bytes
            below += asking[exponent] * bytes
            above -= asking[exponent]
        }
        return level
    }

    /// What could be lent at once, in bytes.
    var free: Int { common - lent }

    /// Some queues ask for another power of two than before.
    ///
    /// - Parameters:
    ///   - exponent: The exponent of what each queue asks for; nil for nothing.
    ///   - former: The exponent of what each queue asked for before; nil for nothing.
    ///   - queues: How many queues these are.
    mutating func ask(for exponent: Int?, insteadOf former: Int?, queues: Int) {
        if let former { asking[former] -= queues }
        if let exponent { asking[exponent] += queues }
    }

    /// Lends more to some queues, as far as memory is free, or takes back what they do not need.
    ///
    /// - Parameters:
    ///   - bytes: How much each queue is to be lent from now on, in bytes.
    ///   - former: How much each queue is lent so far, in bytes.
    ///   - queues: How many queues these are.
    /// - Returns: How much each queue is lent now, in bytes.
    mutating func lend(_ bytes: Int, insteadOf former: Int, queues: Int) -> Int {
        let possible = former + free / queues
        let given = bytes <= possible ? bytes : max(former, Self.powerOfTwo(within: possible))
        lent += (given - former) * queues
        return given
    }

    /// The largest power of two that may be lent and is not larger than a number; 0 for a number below the smallest.
    static func powerOfTwo(within bytes: Int) -> Int {
        guard bytes >= 1 << exponents.lowerBound else { return 0 }
        return 1 << min(exponents.upperBound, Int.bitWidth - 1 - bytes.leadingZeroBitCount)
    }

    /// The exponent of the smallest power of two that may be lent and is not smaller than a number. For a number above
    /// all of them, the exponent of the largest. Nil for a number below 1.
    static func exponent(covering bytes: Int) -> Int? {
        guard bytes > 0 else { return nil }
        return min(exponents.upperBound, max(exponents.lowerBound, Int.bitWidth - (bytes - 1).leadingZeroBitCount))
    }
}
