import APNSClient
import Foundation
import PushModel
import Testing

@testable import WorkerSettings

@Suite("Configuration from the environment", .timeLimit(.minutes(1)))
struct ConfigurationEnvironmentTests {
    @Test("the generated variable names are distinct, and so are their _FILE twins")
    func collisions() {
        let names = ConfigurationSchema.variables.flatMap { [$0.name] + ($0.fileName.map { [$0] } ?? []) }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { !ConfigurationSchema.otherVariables.contains($0) })
        #expect(names.contains("MARTLET_BROKER_TLS_CA_FILE"))
        #expect(names.contains(BrokerConfiguration.uriFileVariable))
        #expect(
            ConfigurationSchema.variables.filter(\.isSecret).map(\.name) == [
                "MARTLET_BROKER_URI", "MARTLET_BROKER_MANAGEMENT", "MARTLET_APNS_PROXY",
            ])
    }

    @Test(
        "apns.proxy is for every APNs; without it HTTPS_PROXY counts, except for NO_PROXY and this machine",
        arguments: [
            ("", [:], nil, nil),
            ("apns: { proxy: null }\n", [:], nil, nil),
            ("apns: { proxy: 'http://u:p@a:1' }\n", [:], "http://a:1", "http://a:1"),
            ("apns: { proxy: 'http://a:1' }\n", ["HTTPS_PROXY": "b:2", "NO_PROXY": "*"], "http://a:1", "http://a:1"),
            ("", ["MARTLET_APNS_PROXY": "http://c:3", "HTTPS_PROXY": "b:2"], "http://c:3", "http://c:3"),
            ("", ["HTTPS_PROXY": "http://u:p@b:2", "https_proxy": "d:4"], "http://b:2", nil),
            ("", ["HTTPS_PROXY": "", "https_proxy": "d:4"], "http://d:4", nil),
            ("", ["https_proxy": "d:4", "NO_PROXY": "apple.com"], nil, nil),
            ("", ["https_proxy": "d:4", "no_proxy": "other.example, .apple.com"], nil, nil),
            ("", ["https_proxy": "d:4", "no_proxy": "example.com"], "http://d:4", nil),
            ("", ["HTTP_PROXY": "e:5", "http_proxy": "e:5"], nil, nil),
        ] as [(String, [String: String], String?, String?)])
    func proxy(file: String, environment: [String: String], apple: String?, local: String?) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let apns = try fixture.load(file + minimalConfiguration, environment).get().apns
        let production = try APNSEndpoint.parse(apns.production)
        #expect(try apns.proxy(for: production)?.description == apple)
        #expect(try apns.proxy(for: APNSEndpoint(host: "localhost", port: 1))?.description == local)
    }

    @Test("A proxy that cannot be used is an error with its place, and nothing of its address is shown")
    func badProxy() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let secret = try fixture.write("proxy", "socks5://u:secret@b:2\n")
        for (file, environment, place) in [
            ("apns: { proxy: 'https://u:secret@a:1' }\n", [:], "martlet.yaml:1:16"),
            ("", ["HTTPS_PROXY": "https://u:secret@a:1"], "HTTPS_PROXY"),
            ("", ["https_proxy": "http://u:secret@a:port"], "https_proxy"),
            ("", ["MARTLET_APNS_PROXY_FILE": secret], "MARTLET_APNS_PROXY_FILE"),
        ] as [(String, [String: String], String)] {
            let errors = try fixture.errors(file + minimalConfiguration, environment)
            #expect(errors.count == 1)
            #expect(errors.first?.contains(place) == true, "\(errors)")
            #expect(errors.first?.contains("secret") == false)
        }
    }

    @Test("apns.ping_interval is an hour, or what is configured")
    func pingInterval() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.load(minimalConfiguration).get().apns.pingInterval == .seconds(3_600))
        let changed = try fixture.load(minimalConfiguration, ["MARTLET_APNS_PING_INTERVAL": "30s"]).get()
        #expect(changed.apns.pingInterval == .seconds(30))
        #expect(try fixture.errors("apns: { ping_interval: 2d }\n" + minimalConfiguration).count == 1)
    }

    @Test("apns.idle is an hour, or what is configured between ten seconds and a day")
    func idle() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.load(minimalConfiguration).get().apns.idle == .seconds(3_600))
        let changed = try fixture.load(minimalConfiguration, ["MARTLET_APNS_IDLE": "10s"]).get()
        #expect(changed.apns.idle == .seconds(10))
        for wrong in ["9s", "25h", "0s"] {
            #expect(try fixture.errors("apns: { idle: \(wrong) }\n" + minimalConfiguration).count == 1)
        }
    }

    @Test("connects are four a second after eight at once, or as configured, within what a process does")
    func connectPace() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let usual = try fixture.load(minimalConfiguration).get().apns
        #expect(usual.connectRate == 4 && usual.connectBurst == 8)
        let changed = try fixture.load(
            "apns: { connect_rate: 0.5, connect_burst: 3 }\n" + minimalConfiguration,
            ["MARTLET_APNS_CONNECT_BURST": "1"]
        ).get().apns
        #expect(changed.connectRate == 0.5 && changed.connectBurst == 1)
        for (text, error) in [
            ("connect_rate: 17", "apns.connect_rate: 17 is out of range: 0.1 to 16 connects per second"),
            ("connect_rate: 0", "apns.connect_rate: 0 is out of range: 0.1 to 16 connects per second"),
            ("connect_rate: fast", "apns.connect_rate: \"fast\" is not a number"),
            ("connect_burst: 33", "apns.connect_burst: 33 is out of range: 1 to 32"),
            ("connect_burst: 1.5", "apns.connect_burst: \"1.5\" is not a whole number"),
        ] {
            let errors = try fixture.errors("apns: { \(text) }\n" + minimalConfiguration)
            #expect(errors.count == 1 && errors.first?.hasSuffix(error) == true, "\(errors)")
        }
    }

    @Test("the environment wins over the file, and an empty variable does not count")
    func precedence() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let configuration = try fixture.load(
            "prefetch: 2\nbroker: { heartbeat: 5s }\nretry: { max_attempts: 2 }\n" + minimalConfiguration,
            [
                "MARTLET_PREFETCH": "3", "MARTLET_BROKER_HEARTBEAT": "", "MARTLET_RETRY_TIERS": "1s, 2s",
                "MARTLET_BROKER_URI": "amqps://u:a,b@h1,amqp://[::1]", "MARTLET_INSTANCE": "w2",
                "MARTLET_ADMIN_LISTEN": "null", "MARTLET_RETRY_HOLDING_TIERS": "1s,1m",
            ]
        ).get()
        #expect(configuration.prefetch == .fixed(3))
        #expect(configuration.broker.heartbeat == .seconds(5))
        #expect(configuration.retry.tiers == [.seconds(1), .seconds(2)])
        #expect(configuration.retry.tierNames == ["1s", "2s", "hold.1s", "hold.2s", "hold.1m"])
        #expect(configuration.retry.maxAttempts == 2)
        #expect(configuration.broker.uris.map(\.revealed) == ["amqps://u:a,b@h1", "amqp://[::1]"])
        #expect(configuration.instance == "w2")
        #expect(configuration.adminListen == nil)
    }

    @Test("the environment alone is enough, with lists of mappings as JSON text and secrets from files")
    func environmentOnly() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let secret = try fixture.write("uri", "amqps://u:p@h/v\n")
        let result = ConfigurationLoader.load(
            file: nil,
            environment: [
                "MARTLET_BROKER_URI_FILE": secret,
                "MARTLET_CREDENTIALS":
                    #"[{"name":"k","kind":"token","key_file":"\#(fixture.directory)/key.p8","#
                    + #""key_id":"ABC1234567","team_id":"DEF7654321"}]"#,
                "MARTLET_ROUTES":
                    #"[{"name":"r","environment":"development","topics":["com.example.app"],"credential":"k","#
                    + #""high_lane":true,"rate":null}]"#,
            ])
        let configuration = try result.get()
        #expect(configuration.broker.uris.map(\.revealed) == ["amqps://u:p@h/v"])
        #expect(configuration.routes.map(\.environment) == [.development])
        #expect(configuration.routes.map(\.highLane) == [true])
        #expect(!configuration.instance.isEmpty)
    }

    @Test(
        "an error in the environment names the variable",
        arguments: [
            (
                ["MARTLET_PREFETCH": "lots"],
                "MARTLET_PREFETCH: prefetch: \"lots\" is neither \"auto\" nor a whole number"
            ),
            (["MARTLET_PREFETCHES": "2"], "MARTLET_PREFETCHES: unknown setting. Did you mean \"MARTLET_PREFETCH\"?"),
            (["MARTLET_LOG_COLOUR": "red"], "MARTLET_LOG_COLOUR: unknown setting."),
            (["MARTLET_NOPE": "x"], "MARTLET_NOPE: unknown setting."),
            (["MARTLET_ADMIN_PORT": "9464"], "MARTLET_ADMIN_PORT: unknown setting."),
            (
                ["MARTLET_CONFIG": "martlet.yaml"],
                "MARTLET_CONFIG: unknown setting. The path of the configuration file is given with --config."
            ),
            (
                ["MARTLET_RETRY": "x"],
                "MARTLET_RETRY: unknown setting. It is a section: each of its settings has a variable of its own, such "
                    + "as MARTLET_RETRY_TIERS."
            ),
            (
                ["MARTLET_ADMIN": #"{"listen":null}"#],
                "MARTLET_ADMIN: unknown setting. It is a section: each of its settings has a variable of its own, such "
                    + "as MARTLET_ADMIN_LISTEN."
            ),
            (
                ["MARTLET_APNS_CHANNELS": "x"],
                "MARTLET_APNS_CHANNELS: unknown setting. It is a section: each of its settings has a variable of its "
                    + "own, such as MARTLET_APNS_CHANNELS_PRODUCTION."
            ),
            (
                ["MARTLET_RETRY_TIERS": "1s,soon"],
                "MARTLET_RETRY_TIERS: retry.tiers[1]: \"soon\" is not a duration: write a number and ms, s, "
                    + "m, h or d, as in 250ms, 1.5s or 6h"
            ),
            (
                ["MARTLET_ROUTES": "[{]"],
                "MARTLET_ROUTES:1:3: bad YAML: did not find expected node content (while parsing a flow node at line 1)"
            ),
            (["MARTLET_ROUTES": "[]"], "MARTLET_ROUTES:1:1: routes: at least one route is needed (or MARTLET_ROUTES)"),
            (
                ["MARTLET_ROUTES": "shop"],
                "MARTLET_ROUTES:1:1: routes: expected a list of mappings, found a single value"
            ),
            (
                ["MARTLET_ROUTES": #"[{"name":"r","environment":"production","topics":["a.b"],"credential":"z"}]"#],
                "MARTLET_ROUTES:1:71: routes[0].credential: no credential is named \"z\". Did you mean \"k\"?"
            ),
            (
                ["MARTLET_BROKER_URI_FILE": "/nowhere/uri"],
                "MARTLET_BROKER_URI_FILE: cannot read /nowhere/uri: No such file or directory"
            ),
            (
                ["MARTLET_BROKER_URI_FILE": "/nowhere/uri", "MARTLET_BROKER_URI": "amqp://h"],
                "MARTLET_BROKER_URI_FILE: set either MARTLET_BROKER_URI or MARTLET_BROKER_URI_FILE, not both"
            ),
        ])
    func errors(_ environment: [String: String], _ expected: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.errors(minimalConfiguration, environment) == [expected])
    }

    @Test(
        "variables of others with the same prefix are left alone",
        arguments: [
            "MARTLET_FAILPOINT", "MARTLET_SERVICE_HOST", "MARTLET_SERVICE_PORT", "MARTLET_PORT_9464_TCP_ADDR",
            "MARTLET_BROKER_SERVICE_HOST", "MARTLET_BROKER_PORT", "MARTLET_SERVICE_PORT_HTTP", "PATH",
        ])
    func foreign(_ name: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.errors(minimalConfiguration, [name: "tcp://10.0.0.1"]) == [])
    }

    @Test(
        "a setting that is gone is a warning where it asks for what holds anyway, and an error where its effect is gone",
        arguments: [
            ("lanes: 1\n", [:], "1:8: lanes: has no effect, because a worker has one lane: delete it", nil),
            (
                "", ["MARTLET_LANES": "auto"],
                "MARTLET_LANES: lanes: has no effect, because a worker has one lane: delete it", nil
            ),
            (
                "lanes: 4\n", [:], nil,
                "lanes: a worker has one lane: run 4 workers, divide rate, connections and memory.jobs by 4, and delete this "
                    + "setting"
            ),
        ] as [(String, [String: String], String?, String?)])
    func gone(_ row: (text: String, environment: [String: String], warning: String?, error: String?)) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        switch try fixture.load(row.text + minimalConfiguration, row.environment) {
        case .success(let configuration):
            #expect(configuration.warnings.count == 1 && row.warning != nil)
            #expect(configuration.warnings.first?.description.hasSuffix(row.warning ?? "") == true)
        case .failure(let errors): #expect(errors.description.contains(row.error ?? "no error"))
        }
    }

    @Test(
        "reply addresses are matched as bytes",
        arguments: [
            ("apns.q.reply.shop", true), ("apns.q.reply.", false), ("apns.q.results", false), ("", false),
            ("xapns.q.reply.shop", false), ("apns.q.reply.a\u{0}", false),
        ])
    func replies(_ address: String, _ expected: Bool) throws {
        let pattern = try ReplyPattern("^apns\\.q\\.reply\\..+$")
        let bytes = Array(address.utf8)
        #expect(pattern.allows(bytes.span) == expected)
    }
}
