import PushModel

extension FinalReport {
    /// Adds a sentence to the detail.
    mutating func addDetail(_ sentence: String) {
        detail = detail.map { "\($0); \(sentence)" } ?? sentence
    }
}
