import ArgumentParser
import PushModel

/// What a notification made of flags shows.
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

    /// The payload that the flags describe.
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

/// What a Live Activity made of flags shows.
struct PushActivityOptions: ParsableArguments {
    @Option(help: "start, update or end.") var event: String?
    @Option(help: "When the content was true: ISO 8601, seconds since 1970, or +10m. (default: now, with --event)")
    var timestamp: Moment?
    @Option(
        help: ArgumentHelp("The app's content state, a JSON object.", valueName: "json"), transform: JSONArgument.object
    )
    var contentState: [UInt8]?
    @Option(help: "When the content is out of date.") var staleDate: Moment?
    @Option(help: "When an ended activity leaves the screen.") var dismissalDate: Moment?
    @Option(help: "The name of the attributes' type, for --event start.") var attributesType: String?
    @Option(
        help: ArgumentHelp("The attributes for --event start, a JSON object.", valueName: "json"),
        transform: JSONArgument.object)
    var attributes: [UInt8]?
    @Flag(help: "Let the started activity ask for a token to update it with.") var inputPushToken = false
    @Option(help: ArgumentHelp("The channel that the started activity listens to.", valueName: "channel-id"))
    var inputPushChannel: String?

    /// What the flags say.
    /// - Parameter now: The present, in milliseconds since 1970.
    func content(now: Int64) -> ActivityContent {
        func seconds(_ moment: Moment?) -> Int64? { moment.map { $0.milliseconds(now: now) / 1_000 } }
        return ActivityContent(
            event: event, timestamp: seconds(timestamp) ?? (event == nil ? nil : now / 1_000),
            contentState: contentState, staleDate: seconds(staleDate), dismissalDate: seconds(dismissalDate),
            attributesType: attributesType, attributes: attributes, inputPushToken: inputPushToken,
            inputPushChannel: inputPushChannel)
    }
}

/// A member of a payload beside `aps`, from `key=json`.
struct AppMember: Equatable {
    /// The member's name.
    var name: String
    /// The member's value.
    var json: [UInt8]

    /// Reads `key=json`.
    /// - Parameter text: What follows the flag.
    /// - Throws: A `ValidationError` that says what is wrong.
    init(_ text: String) throws {
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
            throw ValidationError("Give --data as key=json, for example order=4711.")
        }
        name = String(text[..<mark])
        guard name != "aps" else { throw ValidationError("--data adds members beside aps; aps has flags of its own.") }
        json = try JSONArgument.value(String(text[text.index(after: mark)...]))
    }
}

/// JSON on the command line.
enum JSONArgument {
    /// Reads any JSON value.
    /// - Parameter text: The JSON.
    /// - Returns: Its bytes as written.
    /// - Throws: A `ValidationError` that says what is wrong.
    static func value(_ text: String) throws -> [UInt8] { try read(text).bytes }

    /// Reads a JSON object.
    /// - Parameter text: The JSON.
    /// - Returns: Its bytes as written.
    /// - Throws: A `ValidationError` that says what is wrong.
    static func object(_ text: String) throws -> [UInt8] {
        let (bytes, isObject) = try read(text)
        guard isObject else { throw ValidationError("This is not a JSON object: it must begin with {.") }
        return bytes
    }

    private static func read(_ text: String) throws -> (bytes: [UInt8], isObject: Bool) {
        let bytes = Array(text.utf8)
        var scanner = JSONScanner(0..<bytes.count)
        do throws(JSONError) {
            let value = try scanner.value(in: bytes.span)
            try scanner.finish(in: bytes.span)
            return (bytes, value.kind == .object)
        } catch {
            throw ValidationError("\(error.detail). A text needs quotation marks of its own, as in '\"text\"'.")
        }
    }
}
