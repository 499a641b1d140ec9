/// The headers of a push that APNs looks at; any other header is ignored.
///
/// See Apple, "Sending notification requests to APNs":
/// <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
enum PushHeader: Int, CaseIterable {
    case method, path, scheme, authority, host, authorization, id, topic, pushType, priority, expiration, collapseID
    case contentType, contentLength

    /// The name as it stands in HTTP/2, lower case.
    var name: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .scheme: ":scheme"
        case .authority: ":authority"
        case .host: "host"
        case .authorization: "authorization"
        case .id: APNSHeader.id
        case .topic: APNSHeader.topic
        case .pushType: APNSHeader.pushType
        case .priority: APNSHeader.priority
        case .expiration: APNSHeader.expiration
        case .collapseID: APNSHeader.collapseID
        case .contentType: "content-type"
        case .contentLength: "content-length"
        }
    }

    private static let names: [[UInt8]] = allCases.map { Array("\($0.name)".utf8) }

    /// Finds the header of a name.
    ///
    /// - Parameter name: The bytes of a header name.
    init?(_ name: ArraySlice<UInt8>) {
        guard let index = Self.names.firstIndex(where: { $0.count == name.count && name.elementsEqual($0) }) else {
            return nil
        }
        self.init(rawValue: index)
    }
}
