import Testing

@testable import EventLoop

@Suite("The host of a request to loopback", .timeLimit(.minutes(1)))
struct RequestHostTests {
    @Test(
        "A host is this machine, another address, or foreign",
        arguments: [
            ("localhost", .thisMachine), ("LOCALHOST:2198", .thisMachine), ("127.0.0.1:2198", .thisMachine),
            ("[::1]", .thisMachine), ("[::1]:2198", .thisMachine), ("127.9.9.9", .thisMachine),
            ("8.8.8.8", .address), ("[2001:db8::1]:80", .address),
            ("evil.example", .foreign), ("evil.example:2198", .foreign), ("localhost.", .foreign),
            ("localhost.evil.example", .foreign), ("127.1", .foreign), ("2130706433", .foreign),
            ("localhost:x", .foreign), ("localhost:", .foreign), ("localhost:65536", .foreign),
            ("evil@localhost", .foreign), ("", .foreign), (":80", .foreign), ("[::1", .foreign), ("[::1]x", .foreign),
        ] as [(String, RequestHost)])
    func hosts(authority: String, expected: RequestHost) {
        #expect(RequestHost(authority) == expected)
    }

    @Test("Only a page of the same host and port is of the same origin; a program names none")
    func origins() {
        let host = "127.0.0.1:2198"
        for origin in [nil, "http://127.0.0.1:2198"] { #expect(RequestHost.isOwn(origin: origin, of: host)) }
        for origin in ["http://evil.example", "null", "http://127.0.0.1:3000", "https://127.0.0.1:2198", ""] {
            #expect(!RequestHost.isOwn(origin: origin, of: host), "\(origin)")
        }
    }
}
