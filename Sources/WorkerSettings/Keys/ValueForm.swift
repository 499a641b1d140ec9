/// What may be written as the value of a key, in words.
struct ValueForm: Sendable {
    /// The type.
    var type: String
    /// The limits, or what the text looks like; empty where the type says enough.
    var range: String
    /// Whether the value must never be shown; its key also has a `…_FILE` variable.
    var isSecret = false
    /// Whether it is a list of single values; one value alone also counts.
    var isList = false
}
