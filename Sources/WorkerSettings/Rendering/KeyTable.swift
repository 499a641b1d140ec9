/// The table of all keys, in Markdown, as the page `Configuration` has it.
package enum KeyTable {
    /// The table's text.
    package static var text: String {
        WorkerKeys.present.reduce(into: "| key | type | default | range | meaning |\n|---|---|---|---|---|\n") {
            let range = $1.form.range.isEmpty ? "–" : $1.form.range
            $0 += "| `\($1.path)` | \($1.form.type) | \(standard($1)) | \(range) | \($1.help) |\n"
        }
    }

    /// The default in words.
    private static func standard(_ facts: KeyFacts) -> String {
        if facts.isRequired { return "required" }
        guard let standard = facts.standard else { return facts.meaning.isEmpty ? "none" : facts.meaning }
        if standard == [""] { return facts.meaning }
        return "`\(standard.joined(separator: ", "))`" + (facts.meaning.isEmpty ? "" : ": \(facts.meaning)")
    }
}
