import PushModel

/// What may be written as the value of a key, and how it is read and written.
struct SettingKind<Value: Sendable>: Sendable {
    /// What may be written, in words.
    var form: ValueForm
    /// Reads a value: its node, its full name and where problems go; nil when it was refused.
    let read: @Sendable (_ node: ConfigurationNode, _ name: String, _ problems: ConfigurationProblems) -> Value?
    /// Writes a value as ``read`` takes it, several texts for a list.
    let write: @Sendable (Value) -> [String]

    /// The same kind, for a value that may be absent.
    var optional: SettingKind<Value?> {
        SettingKind<Value?>(
            form: form, read: { read($0, $1, $2).map(Optional.some) }, write: { $0.map(write) ?? [] })
    }

    /// The kind with fewer values.
    ///
    /// - Parameters:
    ///   - words: Which values are left, in words, to follow the range.
    ///   - check: Refuses the others. It gets the value and its text.
    func only(
        _ words: String, _ check: @escaping @Sendable (Value, String) throws(Rejection) -> Void
    ) -> SettingKind {
        var form = form
        form.range += form.range.isEmpty ? words : ", \(words)"
        let read: @Sendable (ConfigurationNode, String, ConfigurationProblems) -> Value? = { node, name, problems in
            guard let value = self.read(node, name, problems), case .scalar(let text, _) = node.content else {
                return nil
            }
            do throws(Rejection) {
                try check(value, text)
                return value
            } catch {
                problems.add(node.origin, "\(name): \(error.message)")
                return nil
            }
        }
        return SettingKind(form: form, read: read, write: write)
    }

    /// A list of single values, at least one; one value alone also counts.
    ///
    /// - Parameters:
    ///   - kind: What each of them may be.
    ///   - noun: What one of them is called.
    static func list<Element>(
        _ kind: SettingKind<Element>, of noun: String
    ) -> SettingKind where Value == [Setting<Element>] {
        var form = kind.form
        form.type += ", or a list"
        form.isList = true
        let read: @Sendable (ConfigurationNode, String, ConfigurationProblems) -> Value? = { node, name, problems in
            func setting(_ node: ConfigurationNode, _ name: String) -> Setting<Element>? {
                kind.read(node, name, problems).map { Setting($0, name: name, origin: node.origin) }
            }
            guard case .list(let entries) = node.content else { return setting(node, name).map { [$0] } ?? [] }
            if entries.isEmpty { problems.add(node.origin, "\(name): at least one \(noun) is needed") }
            return entries.enumerated().compactMap { setting($1, "\(name)[\($0)]") }
        }
        return SettingKind(form: form, read: read, write: { $0.flatMap { kind.write($0.value) } })
    }
}

extension SettingKind {
    /// A kind of single values.
    ///
    /// - Parameters:
    ///   - type: The type in words.
    ///   - range: The limits, or what the text looks like.
    ///   - write: Turns a value into text.
    ///   - parse: Turns text into a value, or throws what would be right.
    init(
        _ type: String, _ range: String = "", write: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws(Rejection) -> Value
    ) {
        self.init(
            form: ValueForm(type: type, range: range),
            read: { node, name, problems in
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
            }, write: { [write($0)] })
    }
}
