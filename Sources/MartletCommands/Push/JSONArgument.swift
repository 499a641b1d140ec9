import ArgumentParser
import PushModel

/// JSON on the command line.
enum JSONArgument {
    /// Reads any JSON value.
    ///
    /// - Parameter text: The JSON.
    /// - Returns: Its bytes as written.
    /// - Throws: A `ValidationError` that says what is wrong.
    static func value(_ text: String) throws -> [UInt8] { try read(text).bytes }

    /// Reads a JSON object.
    ///
    /// - Parameter text: The JSON.
    /// - Returns: Its bytes as written.
    /// - Throws: A `ValidationError` that says what is wrong.
    static func object(_ text: String) throws -> [UInt8] {
        let (bytes, isObject) = try read(text)
        guard isObject else { throw ValidationError("This is not a JSON object: it must begin with {.") }
        return bytes
    }

    private static func read(_ text: String) throws -> (bytes: [UInt8], isObject: Bool) {
        let bytes = Array(text.utf8)
        var scanner = JSONScanner(0..<bytes.count)
        do throws(JSONError) {
            let value = try scanner.value(in: bytes.span)
            try scanner.finish(in: bytes.span)
            return (bytes, value.kind == .object)
        } catch {
            throw ValidationError("\(error.detail). A text needs quotation marks of its own, as in '\"text\"'.")
        }
    }
}
