import PushModel
import Topology

extension SettingKind where Value == String {
    /// Text that is not empty.
    static var text: SettingKind { SettingKind("text", parse: SettingKind.filled) }

    /// The path of a file or directory, relative to the configuration file.
    ///
    /// - Parameter content: What is there, in words.
    static func path(_ content: String = "") -> SettingKind {
        SettingKind("path", content, parse: SettingKind.filled)
    }

    /// A POSIX extended regular expression.
    static var pattern: SettingKind {
        SettingKind.text.only("POSIX extended expression") { (text: String, _: String) throws(Rejection) in
            do throws(ReplyPattern.Failure) {
                _ = try ReplyPattern(text)
            } catch {
                throw Rejection(error.message)
            }
        }
    }

    /// A name of letters, digits, `.`, `_` and `-`.
    ///
    /// - Parameters:
    ///   - length: How many bytes it may have.
    ///   - words: The length in words.
    static func name(_ length: ClosedRange<Int>, _ words: String) -> SettingKind {
        word(length, "\(words) letters, digits, \".\", \"_\" and \"-\"") {
            $0.isAlphanumeric || "._-".utf8.contains($0)
        }
    }

    /// One of Apple's identifiers of keys and teams.
    static var appleIdentifier: SettingKind {
        word(10...10, "Apple's identifier of ten letters and digits") { $0.isAlphanumeric }
    }

    /// A bundle identifier, short enough for the longest suffix of a topic: at most 200 bytes with that suffix.
    static var bundleIdentifier: SettingKind {
        let longest = 200 - TopicSuffix.longest
        return word(1...longest, "1 to \(longest) letters, digits, \".\" and \"-\"") {
            $0.isAlphanumeric || ".-".utf8.contains($0)
        }
    }

    /// The name of a route.
    static var routeName: SettingKind {
        let words = TopologyNames.routeNameRule
        let kind: SettingKind = SettingKind("text", words) { (text: String) throws(Rejection) -> String in
            guard TopologyNames.isRouteName(text) else { throw Rejection("\"\(text)\" must be \(words)") }
            return text
        }
        return kind.only("not `unrouted`") { (name: String, _: String) throws(Rejection) in
            guard name != "unrouted" else {
                throw Rejection("\"unrouted\" is the name of the queue for jobs without a route")
            }
        }
    }

    /// The name of a queue for copies of results. It cannot be the name of a queue over which results are spread, which
    /// ends with a number, or of the queue for results that no other queue takes.
    static var resultsQueue: SettingKind {
        let prefix = TopologyNames.resultsPrefix
        let words = "\(prefix) and \(TopologyNames.routeNameRule), the first a letter"
        return SettingKind("text", words) { (text: String) throws(Rejection) -> String in
            let name = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : ""
            guard TopologyNames.isRouteName(name), let first = name.utf8.first, first > UInt8(ascii: "9"),
                name != "unrouted"
            else { throw Rejection("must be \(words)") }
            guard text != TopologyNames.unclaimedResultsQueue else {
                throw Rejection("\(text) is the queue for results that no other queue takes")
            }
            return text
        }
    }

    /// The name of an exchange that is trusted with every app.
    static var jobExchange: SettingKind {
        let words = "an exchange's name, at most 255 bytes"
        return SettingKind("text", words) { (text: String) throws(Rejection) -> String in
            guard (1...255).contains(text.utf8.count) else { throw Rejection("must be \(words)") }
            guard !text.hasPrefix(TopologyNames.queuePrefix) else {
                throw Rejection(
                    "\"\(text)\" begins with \(TopologyNames.queuePrefix): producers can declare such an exchange themselves, "
                        + "so it can never be trusted")
            }
            return text
        }
    }

    /// Text of some length made of some bytes.
    ///
    /// - Parameters:
    ///   - length: How many bytes it may have.
    ///   - words: The rule in words.
    ///   - allows: Whether a byte may occur.
    private static func word(
        _ length: ClosedRange<Int>, _ words: String, allows: @escaping @Sendable (UInt8) -> Bool
    ) -> SettingKind {
        SettingKind("text", words) { (text: String) throws(Rejection) -> String in
            guard length.contains(text.utf8.count), text.utf8.allSatisfy(allows) else {
                throw Rejection("\"\(text)\" must be \(words)")
            }
            return text
        }
    }

    /// Text that is not empty.
    @Sendable private static func filled(_ text: String) throws(Rejection) -> String {
        guard !text.isEmpty else { throw Rejection("must not be empty") }
        return text
    }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static func choice(_ type: Value.Type) -> SettingKind {
        let names = Value.allCases.map(\.rawValue)
        let words = names.map { "`\($0)`" }.joined(separator: ", ")
        return SettingKind("text", words, write: \.rawValue) { (text: String) throws(Rejection) -> Value in
            if let value = Value(rawValue: text) { return value }
            throw Rejection(
                "\"\(text)\" is not one of \(names.joined(separator: ", "))."
                    + Suggestion.sentence(for: text, among: names))
        }
    }
}

extension SettingKind where Value == APNSEnvironment {
    /// `production` or `development`.
    static var environment: SettingKind {
        SettingKind("text", "`production`, `development`", write: \.rawValue) {
            (text: String) throws(Rejection) -> APNSEnvironment in
            if let value = APNSEnvironment(rawValue: text) { return value }
            let hint = Suggestion.sentence(for: text, among: APNSEnvironment.allCases.map(\.rawValue))
            throw Rejection("\"\(text)\" is neither production nor development.\(hint)")
        }
    }
}

extension SettingKind where Value == RouteShare {
    /// Which routes a worker serves.
    static var share: SettingKind {
        SettingKind(
            "text", "`all`, `2/6` for number 2 of 6 workers, or `auto`: the live workers find their shares",
            parse: RouteShare.init(parsing:))
    }
}
