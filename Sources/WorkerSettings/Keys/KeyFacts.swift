/// What is known of a key, whatever the type of its value. The schema, the environment, the example file and the page
/// need this.
struct KeyFacts: Sendable {
    /// The keys from the root, with `[]` after a list of mappings, such as `routes[].rate`.
    let path: String
    /// What may be written.
    let form: ValueForm
    /// Whether it must be there.
    var isRequired = false
    /// Whether it had an effect once, and is read only to say what to do instead.
    var isGone = false
    /// The default as it is written, several for a list; nil for none.
    var standard: [String]?
    /// What the default stands for, or what happens without one; empty where that is plain.
    var meaning = ""
    /// What the example file has instead of the default.
    var example: [String]?
    /// What the key means, as a part of a sentence.
    let help: String

    /// The last of the keys in ``path``.
    var name: String { steps.last ?? path }

    /// The list of mappings whose entries have the key; nil for any other key.
    var records: String? { path.contains("[]") ? String(path.prefix { $0 != "[" }) : nil }

    /// The keys from the root, or from the entry of a list of mappings.
    var steps: [String] {
        let start = path.lastIndex(of: "]").map { path.index($0, offsetBy: 2) } ?? path.startIndex
        return path[start...].split(separator: ".").map(String.init)
    }
}
