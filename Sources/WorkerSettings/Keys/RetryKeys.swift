import PushModel

/// The keys of `retry`.
struct RetryKeys: Sendable {
    /// The defaults.
    private static let usual = RetryPolicy()

    let tiers = SettingKey(
        "retry.tiers", .list(.duration(.milliseconds(1)...WorkerKeys.day), of: "tier"),
        default: usual.tiers.map { Setting($0) }, "the delays, ascending; each is a queue of the broker")
    let holdingTiers = SettingKey(
        "retry.holding_tiers", .list(.duration(.seconds(1)...WorkerKeys.day), of: "tier"),
        default: usual.holdingTiers.map { Setting($0) },
        "longer delays for jobs with `not_before`, ascending; a delay of `retry.tiers` adds no queue")
    let maxAttempts = SettingKey(
        "retry.max_attempts", .integer(1...100), default: usual.maxAttempts, "attempts of a notification")
    let maxAge = SettingKey(
        "retry.max_age", .duration(.seconds(1)...(.seconds(30 * 86_400))), default: usual.maxAge,
        "time from the first attempt to the last")
}
