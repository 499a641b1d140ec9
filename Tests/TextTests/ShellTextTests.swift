import Testing
import Text

@Suite("Words for a shell", .timeLimit(.minutes(1)))
struct ShellTextTests {
    @Test(
        "stay as they are when harmless, and are quoted otherwise",
        arguments: [
            ("", "''"), ("apns.q.jobs.shop-1_a", "apns.q.jobs.shop-1_a"), ("/", "/"), ("a b", "'a b'"),
            ("$HOME", "'$HOME'"), ("*", "'*'"), ("all's", #"'all'\''s'"#), ("'", #"''\'''"#), ("é", "'é'"),
            ("a\nb", "'a\nb'"),
        ])
    func quoted(text: String, expected: String) {
        #expect(ShellText.quoted(text) == expected)
    }

    @Test(
        "can be quoted whatever they say",
        arguments: [("", "''"), ("a", "'a'"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("'", #"''\'''"#)])
    func inQuotes(text: String, expected: String) {
        #expect(ShellText.inQuotes(text) == expected)
    }
}
