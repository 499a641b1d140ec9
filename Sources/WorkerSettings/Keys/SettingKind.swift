import PushModel

/// What may be written as the value of a key: the type and its limits in words, and how it is read and written.
struct SettingKind<Value: Sendable>: Sendable {
    /// The type in words.
    let type: String
    /// The limits, or the form, in words; empty where the type says enough.
    let range: String
    /// Whether the value must never be shown.
    var isSecret = false
    /// Whether it is a list of single values.
    var isList = false
    /// Reads a value: its node, its full name and where problems go; nil when it was refused.
    let read: @Sendable (_ node: ConfigurationNode, _ name: String, _ problems: ConfigurationProblems) -> Value?
    /// Writes a value as ``read`` takes it, several texts for a list.
    let write: @Sendable (Value) -> [String]

    /// A kind whose values are lists or wrap those of another kind.
    private init(
        _ type: String, _ range: String, isSecret: Bool, isList: Bool,
        read: @escaping @Sendable (ConfigurationNode, String, ConfigurationProblems) -> Value?,
        write: @escaping @Sendable (Value) -> [String]
    ) {
        self.type = type
        self.range = range
        self.isSecret = isSecret
        self.isList = isList
        self.read = read
        self.write = write
    }

    /// A kind of single values.
    ///
    /// - Parameters:
    ///   - type: The type in words.
    ///   - range: The limits, or the form, in words.
    ///   - write: Turns a value into text.
    ///   - parse: Turns text into a value, or says what would be right.
    init(
        _ type: String, _ range: String = "", write: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws(Rejection) -> Value
    ) {
        self.type = type
        self.range = range
        self.write = { [write($0)] }
        read = { node, name, problems in
            guard case .scalar(let text, _) = node.content else {
                problems.add(node.origin, "\(name): expected a single value, found \(node.shape)")
                return nil
            }
            do throws(Rejection) {
                return try parse(text)
            } catch {
                problems.add(node.origin, "\(name): \(error.message)")
                return nil
            }
        }
    }

    /// The same values, of which there may be none.
    var optional: SettingKind<Value?> {
        SettingKind<Value?>(
            type, range, isSecret: isSecret, isList: isList,
            read: { read($0, $1, $2).map(Optional.some) }, write: { $0.map(write) ?? [] })
    }

    /// Some of the values.
    ///
    /// - Parameters:
    ///   - words: Which, beside the range of all of them.
    ///   - check: Refuses the others; gets the value and its text.
    func only(
        _ words: String, _ check: @escaping @Sendable (Value, String) throws(Rejection) -> Void
    ) -> SettingKind {
        let words = range.isEmpty ? words : "\(range), \(words)"
        return SettingKind(
            type, words, isSecret: isSecret, isList: isList,
            read: { node, name, problems in
                guard let value = read(node, name, problems), case .scalar(let text, _) = node.content else {
                    return nil
                }
                do throws(Rejection) {
                    try check(value, text)
                    return value
                } catch {
                    problems.add(node.origin, "\(name): \(error.message)")
                    return nil
                }
            }, write: write)
    }

    /// A list of single values, at least one; one value alone also counts.
    ///
    /// - Parameters:
    ///   - kind: What each of them may be.
    ///   - noun: What one of them is called.
    static func list<Element>(
        _ kind: SettingKind<Element>, of noun: String
    ) -> SettingKind where Value == [Setting<Element>] {
        SettingKind(
            "\(kind.type), or a list", kind.range, isSecret: kind.isSecret, isList: true,
            read: { node, name, problems in
                func setting(_ node: ConfigurationNode, _ name: String) -> Setting<Element>? {
                    kind.read(node, name, problems).map { Setting($0, name: name, origin: node.origin) }
                }
                guard case .list(let entries) = node.content else { return setting(node, name).map { [$0] } ?? [] }
                if node.isEmptyList { problems.add(node.origin, "\(name): at least one \(noun) is needed") }
                return entries.enumerated().compactMap { setting($1, "\(name)[\($0)]") }
            }, write: { $0.flatMap { kind.write($0.value) } })
    }
}
