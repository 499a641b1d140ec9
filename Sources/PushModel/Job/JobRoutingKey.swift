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
