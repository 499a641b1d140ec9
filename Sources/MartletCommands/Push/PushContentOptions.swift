import ArgumentParser

/// The options of `martlet push` that describe a notification's content.
struct PushContentOptions: ParsableArguments {
    @Option(help: "The alert's text.") var alert: String?
    @Option(help: "The alert's title.") var title: String?
    @Option(help: "The alert's second line.") var subtitle: String?
    @Option(help: "The text's key in the app's languages, instead of --alert.") var locKey: String?
    @Option(help: "What fills %@ in the text under --loc-key; repeat it in order.") var locArg: [String] = []
    @Option(help: "The title's key in the app's languages.") var titleLocKey: String?
    @Option(help: "What fills %@ in the title; repeat it in order.") var titleLocArg: [String] = []
    @Option(help: "The second line's key in the app's languages.") var subtitleLocKey: String?
    @Option(help: "What fills %@ in the second line; repeat it in order.") var subtitleLocArg: [String] = []
    @Option(help: "The picture shown while the app starts.") var launchImage: String?
    @Option(help: "The number on the app's icon; 0 removes it.") var badge: Int?
    @Option(help: "A sound's name, for example default.") var sound: String?
    @Flag(help: "Play the sound even where the device is silent; the app needs Apple's entitlement.")
    var critical = false
    @Option(help: "How loud a critical sound is, from 0 to 1.") var volume: Double?
    @Option(help: "The category that decides the alert's buttons.") var category: String?
    @Option(name: .customLong("thread-id"), help: "What groups notifications.") var threadID: String?
    @Flag(help: "Wake the app in the background.") var contentAvailable = false
    @Flag(help: "Let a service extension change the notification.") var mutableContent = false
    @Flag(help: "Tell a widget that its content changed.") var contentChanged = false
    @Option(name: .customLong("target-content-id"), help: "The window that the app brings forward.")
    var targetContentID: String?
    @Option(help: "passive, active, time-sensitive or critical.") var interruptionLevel: String?
    @Option(help: "How far it stands out among the app's others, from 0 to 1.") var relevanceScore: Double?
    @Option(help: "What a Focus filter looks at.") var filterCriteria: String?
    @Option(help: "A value for the address of a website's push; repeat it in order.") var urlArg: [String] = []
    @Option(
        help: ArgumentHelp("A member of the app's own beside aps; its value is JSON.", valueName: "key=json"),
        transform: AppMember.init)
    var data: [AppMember] = []
    @Option(help: ArgumentHelp("Send this JSON file as it is; - reads standard input.", valueName: "file"))
    var payload: String?

    func validate() throws {
        for (name, number) in [("volume", volume), ("relevance-score", relevanceScore)] where number?.isFinite == false
        {
            throw ValidationError("--\(name) must be a finite number.")
        }
    }

    /// The payload that the flags describe.
    ///
    /// - Parameter activity: What the flags about a Live Activity say.
    func shape(_ activity: ActivityContent) -> PushPayload {
        PushPayload(
            body: .init(text: alert, key: locKey, arguments: locArg),
            title: .init(text: title, key: titleLocKey, arguments: titleLocArg),
            subtitle: .init(text: subtitle, key: subtitleLocKey, arguments: subtitleLocArg), launchImage: launchImage,
            badge: badge, sound: sound, isCritical: critical, volume: volume, threadID: threadID, category: category,
            contentAvailable: contentAvailable, mutableContent: mutableContent, contentChanged: contentChanged,
            targetContentID: targetContentID, interruptionLevel: interruptionLevel, relevanceScore: relevanceScore,
            filterCriteria: filterCriteria, urlArguments: urlArg.isEmpty ? nil : urlArg, activity: activity,
            data: data.map { ($0.name, $0.json) })
    }
}
