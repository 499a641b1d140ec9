import PushModel
import Topology

/// The keys of `results`.
struct ResultKeys: Sendable {
    let batch = SettingKey("results.batch", .batch, default: 1, "results per message")
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

extension SettingKind<Int> {
    /// How many results a message has: a range whose first number alone is supported.
    fileprivate static var batch: SettingKind {
        integer(1...1000).only("only 1 yet") { (count: Int, text: String) throws(Rejection) in
            guard count == 1 else { throw Rejection("\(text) is not supported yet: results go out one per message") }
        }
    }
}
