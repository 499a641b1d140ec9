/// Which of Apple's two services a device token belongs to.
package enum APNSEnvironment: String, Hashable, Sendable, CaseIterable {
    /// The App Store's and TestFlight's side.
    case production
    /// The sandbox, for builds signed for development.
    case development

    /// The environment that these bytes name, in lower case; nil for other bytes.
    package init?(utf8 bytes: Span<UInt8>) {
        if bytes.matches("production" as StaticString) {
            self = .production
        } else if bytes.matches("development" as StaticString) {
            self = .development
        } else {
            return nil
        }
    }

    /// The environment that the first word of a routing key names; nil if it names none, or if nothing follows it.
    init?(firstWordOf key: Span<UInt8>) {
        for environment in Self.allCases {
            let length = environment.rawValue.utf8.count
            guard key.count > length + 1, key[length] == UInt8(ascii: ".") else { continue }
            guard Self(utf8: key.extracting(0..<length)) == environment else { continue }
            self = environment
            return
        }
        return nil
    }

    /// The name as constant text.
    package var text: StaticString {
        switch self {
        case .production: "production"
        case .development: "development"
        }
    }
}
