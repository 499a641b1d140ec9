import ArgumentParser

/// A member of a payload beside `aps`, from `key=json`.
struct AppMember: Equatable {
    /// The member's name.
    var name: String
    /// The member's value.
    var json: [UInt8]

    /// Reads `key=json`.
    ///
    /// - Parameter text: What follows the flag.
    /// - Throws: A `ValidationError` that says what is wrong.
    init(_ text: String) throws {
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
            throw ValidationError("Give --data as key=json, for example order=4711.")
        }
        name = String(text[..<mark])
        guard name != "aps" else { throw ValidationError("--data adds members beside aps; aps has flags of its own.") }
        json = try JSONArgument.value(String(text[text.index(after: mark)...]))
    }
}
