import ArgumentParser

/// The options of `martlet push` that describe a Live Activity.
struct PushActivityOptions: ParsableArguments {
    @Option(help: "start, update or end.") var event: String?
    @Option(
        help: ArgumentHelp(
            "When the content was true: ISO 8601, seconds or milliseconds since 1970, or +10m. (default: now, with --event)",
            valueName: "time"),
        transform: MomentArgument.init)
    var timestamp: MomentArgument?
    @Option(
        help: ArgumentHelp("The app's content state, a JSON object.", valueName: "json"), transform: JSONArgument.object
    )
    var contentState: [UInt8]?
    @Option(
        help: ArgumentHelp("When the content is out of date.", valueName: "time"), transform: MomentArgument.init)
    var staleDate: MomentArgument?
    @Option(
        help: ArgumentHelp("When an ended activity leaves the screen.", valueName: "time"),
        transform: MomentArgument.init)
    var dismissalDate: MomentArgument?
    @Option(help: "The name of the attributes' type, for --event start.") var attributesType: String?
    @Option(
        help: ArgumentHelp("The attributes for --event start, a JSON object.", valueName: "json"),
        transform: JSONArgument.object)
    var attributes: [UInt8]?
    @Flag(help: "Let the started activity ask for a token to update it with.") var inputPushToken = false
    @Option(help: ArgumentHelp("The broadcast channel that the started activity listens to.", valueName: "channel-id"))
    var inputPushChannel: String?

    /// The content that the flags describe.
    ///
    /// - Parameter now: The present, in milliseconds since 1970.
    func content(now: Int64) -> ActivityContent {
        func seconds(_ moment: MomentArgument?) -> Int64? { moment.map { $0.milliseconds(now: now) / 1_000 } }
        return ActivityContent(
            event: event, timestamp: seconds(timestamp) ?? (event == nil ? nil : now / 1_000),
            contentState: contentState, staleDate: seconds(staleDate), dismissalDate: seconds(dismissalDate),
            attributesType: attributesType, attributes: attributes, inputPushToken: inputPushToken,
            inputPushChannel: inputPushChannel)
    }
}
