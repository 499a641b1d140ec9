/// Which of Apple's two services a device token belongs to.
package enum APNSEnvironment: String, Hashable, Sendable, CaseIterable {
    /// The App Store's and TestFlight's side.
    case production
    /// The sandbox, for builds signed for development.
    case development

    /// The environment these bytes name, in lower case as everywhere in messages.
    package init?(utf8 bytes: Span<UInt8>) {
        if bytes.matches("production" as StaticString) {
            self = .production
        } else if bytes.matches("development" as StaticString) {
            self = .development
        } else {
            return nil
        }
    }

    /// The environment that the first word of a routing key names, where more words follow it.
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

/// The urgency a producer asks for in the routing key; it chooses the queue where the route has a high lane.
package enum JobClass: String, Hashable, Sendable, CaseIterable {
    /// Ahead of `normal` where the route has `high_lane`.
    case high
    /// Everything else.
    case normal

    /// The class as constant text.
    package var text: StaticString {
        switch self {
        case .high: "high"
        case .normal: "normal"
        }
    }
}

/// A job's routing key taken apart: `<environment>.<class>.<topic>`.
package struct JobRoutingKey: Sendable, Equatable {
    /// The first word.
    package var environment: APNSEnvironment
    /// The second word.
    package var jobClass: JobClass
    /// Where the topic, all the rest, stands in the bytes that were parsed.
    package var topic: Range<Int>

    /// Reads a key; nil when it does not follow the pattern, as with keys of other exchanges.
    /// - Parameters:
    ///   - range: Where the key stands in `bytes`.
    ///   - bytes: The buffer.
    package init?(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let key = bytes.extracting(range)
        guard let environment = APNSEnvironment(firstWordOf: key) else { return nil }
        let environmentLength = environment.rawValue.utf8.count
        let rest = key.extracting((environmentLength + 1)..<key.count)
        let classLength: Int
        if rest.count > 5, rest.extracting(0..<5).matches("high." as StaticString) {
            (jobClass, classLength) = (.high, 5)
        } else if rest.count > 7, rest.extracting(0..<7).matches("normal." as StaticString) {
            (jobClass, classLength) = (.normal, 7)
        } else {
            return nil
        }
        guard Topic.isLegal(rest.extracting(classLength..<rest.count)) else { return nil }
        self.environment = environment
        topic = (range.lowerBound + environmentLength + 1 + classLength)..<range.upperBound
    }
}
