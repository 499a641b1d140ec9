/// The suffixes that may follow a bundle identifier in a topic. A route claims each of its topics with every suffix.
package enum TopicSuffix {
    /// The suffixes as text; the first is empty.
    package static let all: [String] = [""] + Topic.suffixes.map { "\($0)" }

    /// The length of the longest suffix, in bytes.
    package static let longest = all.reduce(0) { max($0, $1.utf8.count) }
}
