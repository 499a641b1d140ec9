/// One thing that a help topic explains: a property, header, field, outcome and so on.
struct HelpEntry: Equatable {
    /// Its name.
    let name: String
    /// Its type, range or values; empty where the name says enough.
    let values: String
    /// What it means.
    let meaning: String

    /// An entry.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - values: Its type, range or values.
    ///   - meaning: What it means.
    init(_ name: String, _ values: String, _ meaning: String) {
        self.name = name
        self.values = values
        self.meaning = meaning
    }

    /// An entry whose name says which values there are.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - meaning: What it means.
    init(_ name: String, _ meaning: String) { self.init(name, "", meaning) }
}
