import Testing

@testable import Topology

@Suite("Regular expressions of the broker", .timeLimit(.minutes(1)))
struct BrokerPatternTests {
    @Test(
        "An expression matches what it matches at the broker",
        arguments: [
            ("", "a", true), ("^$", "", true), ("^$", "a", false), ("a|", "b", true), ("^(|a)$", "b", false),
            ("()", "", true), ("jobs", "apns.jobs.x", true), ("^jobs", "apns.jobs.x", false), ("a.c", "a\nc", false),
            ("c$", "c\n", true), (#"^a\.b$"#, "axb", false), (#"^a\-\<$"#, "a-<", true), ("^(?:ab)+?$", "abab", true),
            (#"^[a\-z]+$"#, "a-z", true), (#"^[a\-z]+$"#, "m", false), ("^[]a]$", "]", true), ("^[^]a]$", "a", false),
            (#"^q\d+$"#, "q12", true), (#"^[\w.-]+$"#, "a_b.c-1", true), (#"^[\w.-]+$"#, "a b", false),
            ("^x?y*z+$", "zz", true), ("^(a|bc)*d$", "abcbcad", true), ("^(a|bc)*d$", "abcbd", false),
            ("^..$", "\u{e9}", true),
        ])
    func answers(_ pattern: String, _ name: String, _ isMatch: Bool) throws {
        let read = try #require(BrokerPattern(pattern))
        #expect(read.matches(name) == isMatch)
    }

    @Test(
        "What means something else elsewhere, and what is no expression, is not read",
        arguments: [
            "(", ")", "*a", "^*", "a**", "a*+", "a++", "a{2}", "(?i)a", "(?=a)", "(?<n", #"(a)\1"#, #"\ba"#, #"\Qa"#,
            #"[\b]"#, "[[:alpha:]]", "[[.a.]]", "[a", "[b-a]", "[a-", #"[a-\d]"#, #"a\"#,
            String(repeating: "a", count: BrokerPattern.longest + 1),
        ])
    func unread(_ pattern: String) {
        #expect(BrokerPattern(pattern) == nil)
    }

    @Test(
        "No expression takes long",
        arguments: [
            ("^(([a-z0-9]+)+[.-])+!$", 1), ("(a*)*", 199), ("(^|a*|$)*", 110), ("(a?|a?)+", 120), ("a?", 490),
        ])
    func quick(_ part: String, _ count: Int) throws {
        let pattern = try #require(BrokerPattern(String(repeating: part, count: count) + "!"))
        let time = ContinuousClock().measure {
            #expect(!pattern.matches("events" + String(repeating: "a", count: 249)))
        }
        #expect(time < .seconds(5))
    }

    @Test("Expressions nested as deep as they can be are read")
    func deep() throws {
        let depth = (BrokerPattern.longest - 1) / 3
        let text = String(repeating: "(", count: depth) + "a" + String(repeating: "+)", count: depth)
        let pattern = try #require(BrokerPattern(text))
        #expect(pattern.matches("aaa"))
    }

    @Test("Every expression that Martlet writes is read")
    func own() throws {
        for policy in BrokerTopologyTests.topology.policies {
            let pattern = try #require(BrokerPattern(policy.pattern), "\(policy.pattern)")
            if !policy.name.contains("*") { #expect(pattern.matches(policy.name), "\(policy.pattern)") }
        }
        for role in BrokerRole.allCases {
            let own = role.permissions(user: "shop.eu @ home")
            for expression in [own.configure, own.write, own.read] {
                #expect(BrokerPattern(expression) != nil, "\(expression)")
            }
        }
    }
}
