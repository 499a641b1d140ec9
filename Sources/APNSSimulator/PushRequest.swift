internal import HTTP2

/// The headers of a push that APNs looks at; any other header is ignored.
///
/// See Apple, "Sending notification requests to APNs":
/// <https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>
enum PushHeader: Int, CaseIterable {
    case method, path, scheme, authority, host, authorization, id, topic, pushType, priority, expiration, collapseID
    case contentType, contentLength

    /// The name as it stands in HTTP/2, lower case.
    var name: String {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .scheme: ":scheme"
        case .authority: ":authority"
        case .host: "host"
        case .authorization: "authorization"
        case .id: "apns-id"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .priority: "apns-priority"
        case .expiration: "apns-expiration"
        case .collapseID: "apns-collapse-id"
        case .contentType: "content-type"
        case .contentLength: "content-length"
        }
    }

    private static let names: [[UInt8]] = allCases.map { Array($0.name.utf8) }

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

/// One request as it came, its headers sorted out but not judged.
struct PushRequest {
    /// The bytes of all headers, as the HTTP/2 session hands them over.
    private let headerBytes: [UInt8]

    /// Where values stand by ``PushHeader``; the first one where a header is repeated.
    private var values: [Range<Int>?]

    /// Whether a header that APNs looks at came more than once.
    private(set) var hasDuplicates = false

    /// The payload as sent.
    let payload: [UInt8]

    /// Whether the payload was longer than the server keeps.
    let isTruncated: Bool

    /// Sorts a request's headers out.
    ///
    /// - Parameter request: The request as received.
    init(_ request: HTTP2Request) {
        headerBytes = request.headerBytes
        values = Array(repeating: nil, count: PushHeader.allCases.count)
        payload = request.body
        isTruncated = request.bodyTruncated
        for field in request.fields {
            guard let header = PushHeader(headerBytes[field.name]) else { continue }
            if values[header.rawValue] == nil {
                values[header.rawValue] = field.value
            } else {
                hasDuplicates = true
            }
        }
    }

    /// The value of a header, or nil where it is absent.
    ///
    /// - Parameter header: Which one.
    subscript(header: PushHeader) -> ArraySlice<UInt8>? { values[header.rawValue].map { headerBytes[$0] } }

    /// What the path asks for.
    var target: PushTarget { PushTarget(path: self[.path] ?? []) }
}

/// What the path of a request leads to.
enum PushTarget: Equatable {
    /// `/3/device/<token>`; the token is not judged yet.
    case device([UInt8])
    /// `/3/device` or `/3/device/`.
    case missingDeviceToken
    /// Anything else.
    case unknown

    /// Reads a path.
    ///
    /// - Parameter path: The bytes of `:path`.
    init(path: ArraySlice<UInt8>) {
        let prefix = "/3/device".utf8
        guard path.starts(with: prefix) else {
            self = .unknown
            return
        }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty || (rest.count == 1 && rest.first == UInt8(ascii: "/")) {
            self = .missingDeviceToken
        } else if rest.first == UInt8(ascii: "/"), !rest.dropFirst().contains(UInt8(ascii: "/")) {
            self = .device(Array(rest.dropFirst()))
        } else {
            self = .unknown
        }
    }
}
