import Topology

/// The keys of `results`.
struct ResultKeys: Sendable {
    let batch = SettingKey(
        "results.batch", .batch(upTo: ResultConfiguration.mostInBatch), default: 1,
        "the most results in one message: those of one outcome and topic that are ready together")
    let deviceToken = SettingKey(
        "results.device_token", .choice(ResultConfiguration.DeviceToken.self), default: .full,
        "whether results name the device token")
    let queues = SettingKey(
        "results.queues", .integer(1...TopologyNames.resultsSlots), default: 1,
        """
        how many queues the results are spread over, those of a job in one: `\(TopologyNames.resultsQueue(0))`, \
        `\(TopologyNames.resultsQueue(1))` …
        """)
}
