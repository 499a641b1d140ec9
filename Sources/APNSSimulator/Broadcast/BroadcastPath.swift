/// The path of a broadcast request, read.
enum BroadcastPath: Equatable {
    /// `/1/apps/<bundle identifier>/channels`.
    case broadcastChannels(app: String)
    /// `/1/apps/<bundle identifier>/all-channels`.
    case allBroadcastChannels(app: String)
    /// `/4/broadcasts/apps/<bundle identifier>`.
    case publish(app: String)
    /// Anything else.
    case unknown

    /// The beginning of all paths for publishing.
    static let publishPrefix = Array("/4/broadcasts".utf8)

    /// Reads a path.
    ///
    /// - Parameter path: The bytes of `:path`.
    init(_ path: ArraySlice<UInt8>) {
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        switch (parts.count, parts.first) {
        case (5, "") where parts[1] == "1" && parts[2] == "apps" && parts[4] == "channels" && !parts[3].isEmpty:
            self = .broadcastChannels(app: parts[3])
        case (5, "") where parts[1] == "1" && parts[2] == "apps" && parts[4] == "all-channels" && !parts[3].isEmpty:
            self = .allBroadcastChannels(app: parts[3])
        case (5, "") where parts[1] == "4" && parts[2] == "broadcasts" && parts[3] == "apps" && !parts[4].isEmpty:
            self = .publish(app: parts[4])
        default: self = .unknown
        }
    }

    /// The bundle identifier; nil for an unknown path.
    var app: String? {
        switch self {
        case .broadcastChannels(let app), .allBroadcastChannels(let app), .publish(let app): app
        case .unknown: nil
        }
    }
}
