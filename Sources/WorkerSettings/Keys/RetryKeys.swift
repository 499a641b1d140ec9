import PushModel
import Topology

/// The keys of `retry`.
struct RetryKeys: Sendable {
    /// The defaults.
    private static let usual = RetryPolicy()

    let tiers = SettingKey(
        "retry.tiers", .list(.duration(.milliseconds(1)...WorkerKeys.day), of: "tier"),
        default: usual.tiers.map { Setting($0) }, "the delays, ascending; each is a queue of the broker")
    let holdingTiers = SettingKey(
        "retry.holding_tiers", .list(.duration(.seconds(1)...WorkerKeys.day), of: "tier"),
        default: RetryPolicy.usualHoldingTiers.map { Setting($0) },
        "more delays for jobs with `not_before`, ascending; these wait in queues of their own, also of `retry.tiers`")
    // Also a limit for the number of jobs follows from it.
    let holdingLimit = SettingKey(
        "retry.holding_limit", .size((1 << 20)...(1 << 40)), default: BrokerTopology.usualHoldingLimit,
        "what waits at most in each of these queues; a job that finds its queue full is `exhausted`")
    let maxAttempts = SettingKey(
        "retry.max_attempts", .integer(1...100), default: usual.maxAttempts, "attempts of a notification")
    let maxAge = SettingKey(
        "retry.max_age", .duration(.seconds(1)...(.seconds(30 * 86_400))), default: usual.maxAge,
        "time from the first attempt to the last")
}
