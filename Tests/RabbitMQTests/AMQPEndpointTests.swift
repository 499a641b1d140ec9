import RabbitMQ
import Testing

@Suite("AMQP URIs", .timeLimit(.minutes(1)))
struct AMQPEndpointTests {
    struct Good: Sendable, CustomTestStringConvertible {
        var uri: String
        var expected: AMQPEndpoint
        var testDescription: String { uri }

        init(
            _ uri: String, host: String = "h", port: Int? = nil, tls: Bool = false,
            _ change: (inout AMQPEndpoint) -> Void = { _ in }
        ) {
            self.uri = uri
            expected = AMQPEndpoint(host: host, port: port, useTLS: tls)
            change(&expected)
        }
    }

    static let good: [Good] = [
        Good("amqp://h"),
        Good("amqp://h/"),
        Good("amqp://h/%2f"),
        Good("AMQP://h"),
        Good("amqps://h", port: 5671, tls: true),
        Good("aMqPs://h:1", port: 1, tls: true),
        Good("amqp://[::1]", host: "::1"),
        Good("amqp://[2001:db8::7]:99/v", host: "2001:db8::7", port: 99) { $0.virtualHost = "v" },
        Good("amqp://127.0.0.1:65535", host: "127.0.0.1", port: 65535),
        Good("amqp://u%40x:p%2fw@h:1/v%2fh", port: 1) {
            $0.user = "u@x"
            $0.password = "p/w"
            $0.virtualHost = "v/h"
        },
        Good("amqp://guest:guest@localhost:5672/", host: "localhost"),
        Good("amqp://u:@h") {
            $0.user = "u"
            $0.password = ""
        },
        Good("amqp://%C3%BC:%E2%82%AC@h/%C3%A4") {
            $0.user = "ü"
            $0.password = "€"
            $0.virtualHost = "ä"
        },
        Good("amqp://h/v?heartbeat=10&connection_timeout=30000") {
            $0.virtualHost = "v"
            $0.heartbeat = 10
            $0.connectionTimeout = .seconds(30)
        },
        Good("amqp://h?channel_max=7&frame_max=8192") {
            $0.channelMax = 7
            $0.frameMax = 8192
        },
        Good(
            "amqps://h?cacertfile=/etc/ca.pem&certfile=%2Fc.pem&keyfile=k.pem&verify=verify_peer"
                + "&server_name_indication=broker.example&auth_mechanism=EXTERNAL", tls: true
        ) {
            $0.tls = AMQPTLSFiles(caFile: "/etc/ca.pem", certFile: "/c.pem", keyFile: "k.pem")
            $0.serverName = "broker.example"
            $0.saslExternal = true
        },
        Good("amqp://h?auth_mechanism=plain"),
    ]

    @Test("a good URI is read in full", arguments: good)
    func readsGood(_ good: Good) throws {
        #expect(try AMQPEndpoint.parse(uri: good.uri) == good.expected)
    }

    static let bad: [(uri: String, reason: String)] = [
        ("", "it must start with amqp:// or amqps://"),
        ("h", "it must start with amqp:// or amqps://"),
        ("http://h", "it must start with amqp:// or amqps://"),
        ("amqp:/h", "it must start with amqp:// or amqps://"),
        (" amqp://h", "white space and control characters are not allowed; write them as %XX"),
        ("amqp://h\n", "white space and control characters are not allowed; write them as %XX"),
        ("amqp://h/v#x", "a # must be written %23"),
        ("amqp://", "the host is missing"),
        ("amqp://:5672", "the host is missing"),
        ("amqp:///v", "the host is missing"),
        ("amqp://h:", "the port must be a number from 1 to 65535"),
        ("amqp://h:0", "the port must be a number from 1 to 65535"),
        ("amqp://h:99999/", "the port must be a number from 1 to 65535"),
        ("amqp://h:5672x", "the port must be a number from 1 to 65535"),
        ("amqp://h:99999999999999999999", "the port must be a number from 1 to 65535"),
        ("amqp://::1", "an IPv6 address must stand in brackets"),
        ("amqp://[::1", "the ] after the IPv6 address is missing"),
        ("amqp://[x]", "the text in brackets is not an IPv6 address"),
        ("amqp://[127.0.0.1]", "the text in brackets is not an IPv6 address"),
        ("amqp://[::1]5672", "only a :port may follow the ]"),
        ("amqp://a%20b", "the host is not a host name or address"),
        ("amqp://h/a/b", "a / in the virtual host must be written %2F"),
        ("amqp://h/%", "a % in the virtual host must be followed by two hexadecimal digits"),
        ("amqp://h/%4", "a % in the virtual host must be followed by two hexadecimal digits"),
        ("amqp://h/%zz", "a % in the virtual host must be followed by two hexadecimal digits"),
        ("amqp://h/%00", "the virtual host contains a NUL byte"),
        ("amqp://h/%FF", "the virtual host is not valid UTF-8"),
        ("amqp://h/" + String(repeating: "v", count: 256), "the virtual host is longer than 255 bytes"),
        ("amqp://:pw@h", "the user name before the @ is missing"),
        ("amqp://@h", "the user name before the @ is missing"),
        ("amqp://u@h", "the password is missing; write user:password@ (or user:@ for an empty one)"),
        ("amqp://u:a:b@h", "a : in the password must be written %3A"),
        ("amqp://u:p@q@h", "an @ in user or password must be written %40"),
        ("amqp://u:p/q@h", "an @ after the host must be written %40; a / or ? in user or password %2F or %3F"),
        ("amqp://u:p?q@h", "an @ after the host must be written %40; a / or ? in user or password %2F or %3F"),
        ("amqp://u:%zz@h", "a % in the password must be followed by two hexadecimal digits"),
        ("amqp://h?", "each query parameter must be written name=value"),
        ("amqp://h?heartbeat", "each query parameter must be written name=value"),
        ("amqp://h?heartbeat=1&", "each query parameter must be written name=value"),
        ("amqp://h?heartbeat=", "parameter heartbeat has no value"),
        ("amqp://h?heartbeat=0", "heartbeat must be a number of seconds from 1 to 3600"),
        ("amqp://h?heartbeat=ten", "heartbeat must be a number of seconds from 1 to 3600"),
        ("amqp://h?heartbeat=5&heartbeat=6", "parameter heartbeat is given twice"),
        ("amqp://h?connection_timeout=0", "connection_timeout must be a number of milliseconds from 1 to 600000"),
        ("amqp://h?channel_max=70000", "channel_max must be a number of channels from 1 to 2047"),
        ("amqp://h?frame_max=100", "frame_max must be a number of bytes from 8192 to 1048576"),
        (
            "amqp://h?hearbeat=5",
            "unknown parameter hearbeat; known are auth_mechanism, cacertfile, certfile, channel_max, "
                + "connection_timeout, frame_max, heartbeat, keyfile, server_name_indication, verify"
        ),
        ("amqp://h?cacertfile=x", "parameter cacertfile needs amqps://"),
        ("amqps://h?verify=verify_none", "verify must be verify_peer: the broker's certificate is always verified"),
        ("amqps://h?certfile=x", "certfile and keyfile must be given together"),
        ("amqps://h?auth_mechanism=external", "auth_mechanism=external needs amqps:// with certfile and keyfile"),
        ("amqps://h?auth_mechanism=ntlm", "auth_mechanism must be plain or external"),
    ]

    @Test("a bad URI is refused with the reason", arguments: bad)
    func refusesBad(uri: String, reason: String) {
        let error = #expect(throws: AMQPError.self) { try AMQPEndpoint.parse(uri: uri) }
        #expect(error?.message == "invalid AMQP URI: " + reason)
        #expect(error?.code == .invalidURI)
        #expect(error?.isRetriable == false)
    }

    @Test("no textual form of an endpoint shows its password")
    func redacts() throws {
        let endpoint = try AMQPEndpoint.parse(uri: "amqps://us%2Fer:s3cret@[::1]:1/v%2Fh")
        #expect(endpoint.redactedDescription == "amqps://us%2Fer:***@[::1]:1/v%2Fh")
        var dumped = ""
        dump(endpoint, to: &dumped)
        for text in ["\(endpoint)", String(reflecting: endpoint), "\([endpoint])", dumped] {
            #expect(!text.contains("s3cret"))
        }
    }

    @Test(
        "an endpoint is exposed where it leaves this machine without TLS",
        arguments: [
            ("amqp://localhost", false), ("amqp://127.0.0.9", false), ("amqp://[::1]", false),
            ("amqp://a.localhost", true), ("amqps://h", false), ("amqp://h", true), ("amqp://10.0.0.7", true),
            ("amqp://localhost.example", true), ("amqp://[2001:db8::7]", true), ("amqp://0.0.0.0", true),
        ])
    func isExposed(uri: String, expected: Bool) throws {
        #expect(try AMQPEndpoint.parse(uri: uri).isExposed == expected)
    }

    @Test("no error about a URI repeats a password", arguments: bad.map(\.uri) + ["amqp://u:p", "amqp://u:p@"])
    func errorsAreRedacted(uri: String) {
        for text in [uri, uri.replacing("u:", with: "u:s3cret%2F")] {
            do { _ = try AMQPEndpoint.parse(uri: text) } catch { #expect(!"\(error)".contains("s3cret")) }
        }
    }
}
