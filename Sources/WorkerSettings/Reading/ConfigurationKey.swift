/// One key of the configuration, and what may stand below it.
///
/// The table below is the only list of keys: unknown keys, the names of environment variables and the test that the
/// example file is complete all come from it.
struct ConfigurationKey: Sendable {
    /// What may stand under a key.
    enum Shape: Sendable {
        /// A single value.
        case value
        /// A list of single values; one value alone also counts. In the environment: separated by commas.
        case values
        /// A mapping with these keys.
        case section([ConfigurationKey])
        /// A list of mappings with these keys. In the environment: JSON text.
        case records([ConfigurationKey])
    }

    /// The key as written in the file.
    let name: String
    /// What may stand under it.
    let shape: Shape
    /// Whether the value must never be shown; such a key also has a `…_FILE` variable.
    let isSecret: Bool

    /// Makes a key; a plain value unless told otherwise.
    init(_ name: String, _ shape: Shape = .value, secret isSecret: Bool = false) {
        self.name = name
        self.shape = shape
        self.isSecret = isSecret
    }
}
