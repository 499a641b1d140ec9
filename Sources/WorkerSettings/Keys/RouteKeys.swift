import APNSClient
import PushModel
import Topology

/// The keys of an entry of `routes`.
struct RouteKeys: Sendable {
    let name = SettingKey(
        required: "routes[].name", .routeName, example: "example",
        "part of the queue's name, `\(TopologyNames.jobQueue(route: "<name>"))`")
    let environment = SettingKey(
        required: "routes[].environment", .environment, example: .development, "which APNs its device tokens belong to")
    let topics = SettingKey(
        required: "routes[].topics", .list(.bundleIdentifier, of: "topic"), example: [Setting("com.example.app")],
        "bundle identifiers; each comes with its suffixes: `.voip`, `.complication` and so on")
    let credential = SettingKey(
        required: "routes[].credential", .text, example: "example-key", "a name of `credentials`: what it pushes with")
    let connections = SettingKey(
        "routes[].connections", .automatic(1...64), default: .automatic,
        meaning: "up to \(APNSPoolConfiguration.automaticMaximum)",
        "connections to APNs of one worker; opened for jobs")
    let lanes = SettingKey(gone: "routes[].lanes", .automatic(1...256), default: .automatic)
    let highLane = SettingKey(
        "routes[].high_lane", .boolean, default: false,
        "whether jobs of class `high` have a queue of their own, `\(TopologyNames.highJobQueue(route: "<name>"))`, and go "
            + "first")
    let highShare = SettingKey(
        "routes[].high_share", .integer(1...90), default: RouteConfiguration.standardHighShare,
        "with `high_lane`: percent of the streams that normal jobs leave free, at least one stream")
    let rate = SettingKey(
        "routes[].rate", .number(0.001...1_000_000, "notifications per second, or null"), without: "no limit",
        "the most notifications that one worker sends")
    let resultsQueue = SettingKey(
        "routes[].results_queue", .resultsQueue,
        "a queue for copies of the results of this route and of others that name it; it drops its oldest beyond 1 GiB")
    let resultsBatch = SettingKey(
        "routes[].results_batch", .batch(upTo: ResultConfiguration.mostInBatch), without: "`results.batch`",
        "the most results of this route in one message")
    let omitTopic = SettingKey(
        "routes[].omit_topic", .boolean, default: false,
        "leaves `\(HeaderName.topic)` out; needs a certificate with one topic")
}
