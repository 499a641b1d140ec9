/// Describes what is wrong with a JSON text, without repeating its values.
enum JSONFault {
    /// One sentence about an error of `JSONDecoder`.
    ///
    /// - Parameter error: What the decoder threw.
    static func words(for error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it cannot be read" }
        switch error {
        case .keyNotFound(let key, let context): return "\(path(context, then: key)) is missing"
        case .valueNotFound(_, let context): return "\(path(context)) is null"
        case .typeMismatch(_, let context):
            return context.codingPath.isEmpty ? "it is not a JSON object" : "\(path(context)) has the wrong type"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "it is not valid JSON" : "\(path(context)) is not valid"
        @unknown default: return "it cannot be read"
        }
    }

    /// The place of a fault as `device_tokens[3]`.
    private static func path(_ context: DecodingError.Context, then last: (any CodingKey)? = nil) -> String {
        var text = ""
        for key in context.codingPath + (last.map { [$0] } ?? []) {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text
    }
}
