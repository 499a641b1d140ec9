/// One key of the configuration: its name, what may be written there, its default, and what it means.
///
/// A declaration in ``WorkerKeys`` is the only place that says this. The schema, the reader, the environment variable,
/// the example file and the page take it from there. Its help is its documentation, so a key has no comment of its own.
struct SettingKey<Value: Sendable>: Sendable {
    /// What is known of the key, whatever the type of its value.
    let facts: KeyFacts
    /// What may be written, and how it is read.
    let kind: SettingKind<Value>
    /// The value of a key that is absent or null.
    let standard: Value

    /// A key with a default.
    ///
    /// - Parameters:
    ///   - path: The keys from the root, with `[]` after a list of mappings, such as `routes[].rate`.
    ///   - kind: What may be written.
    ///   - standard: The default.
    ///   - meaning: What the default stands for, where that is not plain.
    ///   - help: What the key means, as a part of a sentence.
    init(
        _ path: String, _ kind: SettingKind<Value>, default standard: Value, meaning: String = "", _ help: String
    ) {
        self.kind = kind
        self.standard = standard
        facts = KeyFacts(
            path: path, form: kind.form, standard: kind.write(standard), meaning: meaning, help: help)
    }

    /// A key that had an effect once.
    ///
    /// - Parameters:
    ///   - path: The keys from the root.
    ///   - kind: What could be written.
    ///   - standard: The default.
    init(gone path: String, _ kind: SettingKind<Value>, default standard: Value) {
        self.kind = kind
        self.standard = standard
        facts = KeyFacts(path: path, form: kind.form, isGone: true, help: "")
    }

    /// A key that may be left out.
    ///
    /// - Parameters:
    ///   - path: The keys from the root.
    ///   - kind: What may be written.
    ///   - meaning: What happens without it.
    ///   - example: What the example file has; nil for `null`.
    ///   - help: What the key means, as a part of a sentence.
    init<Written>(
        _ path: String, _ kind: SettingKind<Written>, without meaning: String = "", example: Written? = nil,
        _ help: String
    ) where Value == Written? {
        self.kind = kind.optional
        standard = nil
        facts = KeyFacts(
            path: path, form: kind.form, meaning: meaning, example: example.map(kind.write), help: help)
    }

    /// A key that must be there.
    ///
    /// - Parameters:
    ///   - path: The keys from the root.
    ///   - kind: What may be written.
    ///   - example: What the example file has.
    ///   - help: What the key means, as a part of a sentence.
    init<Written>(
        required path: String, _ kind: SettingKind<Written>, example: Written, _ help: String
    ) where Value == Written? {
        self.kind = kind.optional
        standard = nil
        facts = KeyFacts(
            path: path, form: kind.form, isRequired: true, example: kind.write(example), help: help)
    }
}
