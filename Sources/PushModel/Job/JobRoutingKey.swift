/// A job's routing key taken apart: `<environment>.<class>.<topic>`.
package struct JobRoutingKey: Sendable, Equatable {
    /// The first word.
    package var environment: APNSEnvironment
    /// The second word.
    package var jobClass: JobClass
    /// Where the topic, all the rest, stands in the bytes that were parsed.
    package var topic: Range<Int>

    /// Reads a key; nil if it does not follow the pattern, such as a key of another exchange.
    ///
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

    /// What is wrong with a key that does not follow the pattern; nil for one that does.
    ///
    /// - Parameters:
    ///   - range: Where the key stands in `bytes`.
    ///   - bytes: The buffer.
    package static func mistake(_ range: Range<Int>, in bytes: Span<UInt8>) -> String? {
        guard JobRoutingKey(range, in: bytes) == nil else { return nil }
        let key = bytes.extracting(range)
        let end = key.firstIndex(of: UInt8(ascii: "."), from: 0)
        guard let end, let next = key.firstIndex(of: UInt8(ascii: "."), from: end + 1) else {
            return "the routing key must be <environment>.<class>.<topic>"
        }
        if APNSEnvironment(firstWordOf: key) == nil {
            return "the routing key's environment\(word(key.extracting(0..<end))) is neither production nor development"
        }
        let jobClass = key.extracting((end + 1)..<next)
        if !jobClass.matches("high" as StaticString), !jobClass.matches("normal" as StaticString) {
            return "the routing key's class\(word(jobClass)) is neither high nor normal"
        }
        return "the routing key's topic must be 1 to \(Topic.maximumLength) of the characters A-Z a-z 0-9 . -"
    }

    /// A space and the word, if the word is at most 40 bytes of the characters of topics; else empty.
    private static func word(_ text: Span<UInt8>) -> String {
        guard text.count <= 40, Topic.isLegal(text) else { return "" }
        return " " + String(decoding: (0..<text.count).map { text[$0] }, as: UTF8.self)
    }
}

extension Span where Element == UInt8 {
    /// The first position of a byte at or after a position; nil without such a byte.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        (start..<count).first { self[$0] == byte }
    }
}
