import Foundation
import Logging
import PushModel
import TLS
import TestSupport
import Testing
import Topology

@testable import WorkerSettings

@Suite("Configuration", .timeLimit(.minutes(1)))
struct ConfigurationTests {
    @Test("the least file gets every default")
    func defaults() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let configuration = try fixture.load(minimalConfiguration).get()
        #expect(configuration.instance == "made-up")
        #expect(configuration.broker.uris.map(\.revealed) == ["amqp://guest:guest@localhost:5672/"])
        #expect(configuration.broker.management == nil)
        #expect(configuration.broker.heartbeat == .seconds(15))
        #expect(configuration.broker.tls == BrokerTLSConfiguration())
        #expect(configuration.apns.address(of: .production) == "https://api.push.apple.com:443")
        #expect(configuration.apns.address(of: .development) == "https://api.sandbox.push.apple.com:443")
        #expect(configuration.apns.requestTimeout == .seconds(30))
        #expect(configuration.share == .all)
        #expect(configuration.prefetch == .automatic)
        #expect(configuration.jobMemory == 256 << 20)
        #expect(configuration.retry.tiers == [.seconds(2), .seconds(15), .seconds(60), .seconds(300), .seconds(1800)])
        #expect(configuration.retry.holdingTiers == [.seconds(3_600), .seconds(21_600)])
        let delays = ["2s", "15s", "1m", "5m", "30m"]
        #expect(configuration.retry.tierNames == delays + (delays + ["1h", "6h"]).map { "hold.\($0)" })
        #expect(configuration.retry.holdingLimit == 2 << 30)
        #expect(configuration.retry.maxAttempts == 6)
        #expect(configuration.retry.maxAge == .seconds(21600))
        #expect(configuration.results == ResultConfiguration(batch: 1, deviceToken: .full, queues: 1))
        #expect(configuration.jobsFrom == [])
        #expect(configuration.repliesAllow == "^apns\\.q\\.reply\\..+$")
        #expect(configuration.journal == nil)
        #expect(configuration.adminListen == ListenAddress(host: "127.0.0.1", port: 9464))
        #expect(!configuration.metricsDetail)
        #expect(configuration.tracing == TracingConfiguration(endpoint: nil, serviceName: "martlet"))
        #expect(configuration.log == LogConfiguration(level: .info, format: .automatic))
        #expect(configuration.shutdownGrace == .seconds(45))
        #expect(
            configuration.credentials == [
                .token(
                    TokenCredentialConfiguration(
                        name: "k", keyFile: "\(fixture.directory)/key.p8", keyID: "ABC1234567", teamID: "DEF7654321"))
            ])
        #expect(
            configuration.routes == [
                RouteConfiguration(
                    name: "r", environment: .production, topics: ["com.example.app"], credential: "k",
                    connections: .automatic, highLane: false, highShare: 25, rate: nil,
                    omitTopic: false)
            ])
    }

    /// A value for every key.
    private static let everything = """
        instance: w-1
        broker:
          uri: ["amqp://a:b@h1/v", "amqps://[::1]:5671/v"]
          allow_plaintext: true
          management: "http://u:p@h:15672"
          heartbeat: 10s
          tls: { ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem }
        apns: { production: "https://localhost:8443", development: "https://[::1]", trust_file: trust.pem, request_timeout: 250ms }
        credentials:
          - { name: k, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF7654321 }
        routes:
          - name: a
            environment: production
            topics: [com.example.a, com.example.b]
            credential: k
            connections: 3
            high_lane: true
            high_share: 40
            rate: 0.5
            results_queue: apns.q.results.team-1
          - { name: b, environment: development, topics: com.example.a, credential: k }
        share: 2/6
        prefetch: 64
        memory: { jobs: 1GiB }
        retry: { tiers: [50ms, 90s], max_attempts: 2, max_age: 10m }
        results: { device_token: omit, queues: 4 }
        jobs: { from: [events, delayed] }
        replies: { allow: "." }
        admin: { listen: null }
        metrics: { detail: true }
        log: { level: debug, format: json }
        shutdown: { grace: 2s }
        """

    @Test("every written value arrives")
    func everything() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        for name in ["ca.pem", "cert.pem", "key.pem"] { try fixture.write(name, name) }
        let authority = try ThrowawayCertificates(name: "Trust").authority
        try fixture.write("trust.pem", String(decoding: authority.certificatePEM, as: UTF8.self))
        let configuration = try fixture.load(Self.everything).get()
        #expect(configuration.instance == "w-1")
        #expect(configuration.jobsFrom == ["events", "delayed"])
        #expect(configuration.topology(virtualHost: "/").trustedExchanges == ["events", "delayed"])
        #expect(configuration.broker.uris.map(\.revealed) == ["amqp://a:b@h1/v", "amqps://[::1]:5671/v"])
        #expect(configuration.broker.management?.revealed == "http://u:p@h:15672")
        #expect(configuration.broker.tls.certFile == "\(fixture.directory)/cert.pem")
        #expect(configuration.apns.production == "https://localhost:8443")
        #expect(configuration.apns.development == "https://[::1]:443")
        #expect(configuration.apns.requestTimeout == .milliseconds(250))
        #expect(configuration.routes[0].connections == .fixed(3))
        #expect(configuration.routes[0].highLane && configuration.routes[0].highShare == 40)
        #expect(configuration.routes[0].rate == 0.5)
        #expect(configuration.topologyRoutes.map(\.resultsQueue) == ["apns.q.results.team-1", nil])
        #expect(configuration.results.queues == 4)
        #expect(configuration.routes[1].topics == ["com.example.a"])
        #expect(configuration.share == .fixed(number: 2, of: 6))
        #expect(configuration.prefetch == .fixed(64))
        #expect(configuration.jobMemory == 1 << 30)
        #expect(configuration.retry.tiers == [.milliseconds(50), .seconds(90)])
        #expect(configuration.results.deviceToken == .omit)
        #expect(configuration.adminListen == nil)
        #expect(configuration.metricsDetail)
        #expect(configuration.log == LogConfiguration(level: .debug, format: .json))
        #expect(configuration.shutdownGrace == .seconds(2))
    }

    @Test("off means one result in a message, and so does false, which YAML makes of it", arguments: ["off", "false"])
    func batchOff(_ word: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let routes = minimalConfiguration.replacing("name: r,", with: "name: r, results_batch: \(word),")
        #expect(routes.contains("results_batch"))
        let configuration = try fixture.load("results: { batch: \(word) }\n" + routes).get()
        #expect(configuration.results.batch == 1 && configuration.routes[0].resultsBatch == 1)
    }

    @Test("one bad line gives one error at its place", arguments: ConfigurationTests.badLines)
    func badLine(_ line: String, _ expected: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let errors = try fixture.errors(line + "\n" + minimalConfiguration)
        #expect(errors == ["martlet.yaml:1:\(expected)"])
    }

    static let badLines: [(String, String)] = [
        ("brokr: {}", "1: brokr: unknown key. Did you mean \"broker\"?"),
        ("colour: red", "1: colour: unknown key."),
        ("broker: { ur: x }", "11: broker.ur: unknown key. Did you mean \"uri\"?"),
        ("broker: here", "9: broker: expected a mapping, found a single value"),
        ("broker: [a]", "9: broker: expected a mapping, found a list"),
        ("results: { queues: 65 }", "20: results.queues: 65 is out of range: 1 to 64"),
        ("share: 7/6", "8: share: \"7/6\" has no worker of that number: write 1/6 to 6/6"),
        ("share: 1/1001", "8: share: \"1/1001\" is a share of too many workers: there may be 1 to 1000"),
        (
            "share: half",
            "8: share: \"half\" is not a share of the routes: write all, auto, or this worker's number and how many "
                + "workers there are, as in 2/6"
        ),
        ("prefetch: [2]", "11: prefetch: expected a single value, found a list"),
        ("prefetch: many", "11: prefetch: \"many\" is neither \"auto\" nor a whole number"),
        ("prefetch: 0", "11: prefetch: 0 is out of range: 1 to 65535"),
        ("prefetch: 70000", "11: prefetch: 70000 is out of range: 1 to 65535"),
        ("memory: { jobs: 15MiB }", "17: memory.jobs: 15MiB is out of range: 16MiB to 1TiB"),
        (
            "memory: { jobs: 256 }",
            "17: memory.jobs: \"256\" is not a size: write a whole number and a unit, as in 512KiB, 256MiB or 2GiB"
        ),
        (
            "broker: { heartbeat: 15 }",
            "22: broker.heartbeat: \"15\" is not a duration: write a number and ms, s, m, h or d, as in 250ms, 1.5s or 6h"
        ),
        ("broker: { heartbeat: 1500ms }", "22: broker.heartbeat: 1500ms is not a whole number of seconds"),
        ("broker: { heartbeat: 11m }", "22: broker.heartbeat: 11m is out of range: 1s to 10m"),
        ("broker: { uri: [] }", "16: broker.uri: at least one address is needed"),
        ("broker: { uri: \"http://h\" }", "16: broker.uri: invalid AMQP URI: it must start with amqp:// or amqps://"),
        (
            "broker: { uri: \"amqp://:pw@h\" }",
            "16: broker.uri: invalid AMQP URI: the user name before the @ is missing"
        ),
        (
            "broker: { uri: \"amqp://u:secret@h:99999\" }",
            "16: broker.uri: invalid AMQP URI: the port must be a number from 1 to 65535"
        ),
        (
            "broker: { uri: [\"amqps://h\", \"amqp://u:secret@\"] }",
            "30: broker.uri[1]: invalid AMQP URI: the host is missing"
        ),
        ("broker: { management: \"ftp://h\" }", "23: broker.management: must begin with http:// or https://"),
        ("broker: { tls: { cert_file: key.p8 } }", "29: broker.tls.cert_file: needs key_file beside it"),
        (
            "broker: { tls: { ca_file: none.pem } }",
            "27: broker.tls.ca_file: cannot read none.pem: No such file or directory"
        ),
        ("broker: { tls: { ca_file: . } }", "27: broker.tls.ca_file: cannot read .: Is a directory"),
        ("apns: { production: \"http://h\" }", "21: apns.production: must begin with https://"),
        ("apns: { production: \"https://h/3\" }", "21: apns.production: nothing may follow the host and port"),
        ("apns: { request_timeout: 1ms }", "26: apns.request_timeout: 1ms is out of range: 100ms to 10m"),
        ("retry: { tiers: [2s, 2s] }", "22: retry.tiers: 2s must be longer than the tier before it"),
        ("retry: { tiers: [] }", "17: retry.tiers: at least one tier is needed"),
        ("retry: { holding_tiers: [2h, 1h] }", "30: retry.holding_tiers: 1h must be longer than the tier before it"),
        ("retry: { max_attempts: 1.5 }", "24: retry.max_attempts: \"1.5\" is not a whole number"),
        ("results: { batch: 1001 }", "19: results.batch: 1001 is out of range: 1 to 1000"),
        ("results: { batch: none }", "19: results.batch: \"none\" is neither \"off\" nor a whole number"),
        ("results: { batch: true }", "19: results.batch: \"true\" is neither \"off\" nor a whole number"),
        (
            "results: { device_token: fulll }",
            "26: results.device_token: \"fulll\" is not one of full, omit. Did you mean \"full\"?"
        ),
        (
            "jobs: { from: [events, apns.q.reply.shop.e] }",
            "24: jobs.from[1]: \"apns.q.reply.shop.e\" begins with apns.q.: producers can declare such an exchange "
                + "themselves, so it can never be trusted"
        ),
        ("jobs: { from: '' }", "15: jobs.from: must be an exchange's name, at most 255 bytes"),
        ("replies: { allow: \"(\" }", "19: replies.allow: not a regular expression: Unmatched ( or \\("),
        ("replies: { allow: '\\d+' }", "19: replies.allow: \\d is not supported: write [0-9]"),
        (
            "admin: { listen: \"0.0.0.0:9464\" }",
            "18: admin.listen: other machines can reach 0.0.0.0:9464: set admin.token_file, or listen on 127.0.0.1"
        ),
        (
            "admin: { listen: \"[::]:9464\", token_file: key.p8 }",
            "43: admin.token_file: cannot use key.p8: its first line has fewer than 16 characters"
        ),
        (
            "admin: { listen: localhost }",
            "18: admin.listen: the port is missing: write host:port, as in 127.0.0.1:9464"
        ),
        (
            "log: { level: warn }",
            "15: log.level: \"warn\" is not one of trace, debug, info, notice, warning, error, critical. "
                + "Did you mean \"warning\"?"
        ),
        ("shutdown: { grace: 0s }", "20: shutdown.grace: 0s is out of range: 1s to 1h"),
        ("instance: \"a b\"", "11: instance: \"a b\" must be at most 100 letters, digits, \".\", \"_\" and \"-\""),
        ("prefetch: &x 2", "11: anchors and aliases are not supported: write the value out"),
    ]

    @Test("what is wrong in credentials and routes is reported all at once, in the order of the file")
    func everythingWrong() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let errors = try fixture.errors(
            """
            credentials:
              - { name: k, kind: token, key_file: key.p8, key_id: ABC123456, team_id: DEF7654321 }
              - { name: k, kind: token, key_file: gone.p8, key_id: ABC1234567 }
              - { name: c, kind: certificate, file: push.p12, password_file: null }
              - { name: d, kind: tokn }
              - { name: e, kind: token, key_file: "-----BEGIN PRIVATE KEY-----", key_id: ABC1234567, team_id: DEF7654321, file: x }
            routes:
              - { name: Shop, environment: production, topics: [com.example.app], credential: k }
              - { name: unrouted, environment: prod, topics: [], credential: kk }
              - { name: a, environment: production, topics: [com.example.app.voip, com.example.b], credential: c, high_lane: yes }
              - { name: a, environment: development, topics: [com.example.app, "com example"], credential: e, rate: 0, colour: red }
              - just text
              -
            """)
        #expect(
            errors == [
                "martlet.yaml:2:55: credentials[0].key_id: \"ABC123456\" must be Apple's identifier of ten letters and digits",
                "martlet.yaml:3:5: credentials[1].team_id: is required",
                "martlet.yaml:3:13: credentials[1].name: the credential name \"k\" is already used at martlet.yaml:2:13",
                "martlet.yaml:3:39: credentials[1].key_file: cannot read gone.p8: No such file or directory",
                "martlet.yaml:4:41: credentials[2].file: cannot read push.p12: No such file or directory",
                "martlet.yaml:5:22: credentials[3].kind: \"tokn\" is not one of token, certificate. Did you mean \"token\"?",
                "martlet.yaml:6:39: credentials[4].key_file: this is not a path but the content of a file: give the path",
                "martlet.yaml:6:117: credentials[4].file: belongs to kind certificate, not token",
                "martlet.yaml:8:13: routes[0].name: \"Shop\" must be 1 to 40 lower-case letters, digits and \"-\"",
                "martlet.yaml:9:13: routes[1].name: \"unrouted\" is the name of the queue for jobs without a route",
                "martlet.yaml:9:36: routes[1].environment: \"prod\" is neither production nor development. "
                    + "Did you mean \"production\"?",
                "martlet.yaml:9:50: routes[1].topics: at least one topic is needed",
                "martlet.yaml:9:66: routes[1].credential: no credential is named \"kk\". Did you mean \"k\"?",
                "martlet.yaml:10:50: routes[2].topics: \"com.example.app.voip\" in production is already claimed by "
                    + "another route as \"com.example.app\" (martlet.yaml:8:53); a topic comes with its suffixes",
                "martlet.yaml:10:114: routes[2].high_lane: \"yes\" is neither true nor false",
                "martlet.yaml:11:13: routes[3].name: the route name \"a\" is already used at martlet.yaml:10:13",
                "martlet.yaml:11:68: routes[3].topics[1]: \"com example\" must be 1 to 177 letters, digits, \".\" and \"-\"",
                "martlet.yaml:11:105: routes[3].rate: 0 is out of range: 0.001 to 1000000 notifications per second, or null",
                "martlet.yaml:11:108: routes[3].colour: unknown key.",
                "martlet.yaml:12:5: routes[4]: expected a mapping, found a single value",
                "martlet.yaml:13:4: routes[5]: expected a mapping, found nothing",
            ])
    }

    @Test(
        "topics that overlap with their suffixes are claimed once",
        arguments: [
            ("com.a", "com.a", true), ("com.a", "com.a.voip", true), ("com.a.voip", "com.a", true),
            ("com.a", "com.a.extension", false), ("com.a", "com.ab", false), ("com.a", "com.a.push-type.widgets", true),
            ("com.a.voip", "com.a.complication", false),
        ])
    func claims(_ left: String, _ right: String, _ overlap: Bool) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let yaml = minimalConfiguration.replacingOccurrences(of: "com.example.app", with: "\(left), \(right)")
        let errors = try fixture.errors(yaml)
        #expect(errors.contains { $0.contains("is already claimed by route") } == overlap)
    }

    @Test("thousands of topics are claimed in a moment")
    func manyClaims() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let topics = (0..<3_000).map { "com.t\($0)" }.joined(separator: ", ")
        let yaml = minimalConfiguration.replacingOccurrences(of: "com.example.app", with: topics)
        let time = try ContinuousClock().measure {
            let configuration = try fixture.load(yaml).get()
            #expect(configuration.routes[0].topics.count == 3_000)
        }
        #expect(time < .seconds(5))
    }

    @Test(
        "the collector of traces has an address, without a login and without the path for spans",
        arguments: [
            ("http://collector", "http://collector:80", nil),
            ("https://otel.example.com/", "https://otel.example.com:443", nil),
            ("http://[::1]:4318/base/", "http://[::1]:4318/base", nil),
            ("grpc://collector:4317", nil, "must begin with http:// or https://"),
            ("http://user:secret@collector", nil, "must not carry a user or password"),
            ("http://collector?key=secret", nil, "must not have a query or a fragment"),
            ("http://collector:4318/base//", "http://collector:4318/base", nil),
            ("http://collector:4318/v1/traces/", nil, "leave /v1/traces out: it is added"),
            ("http://collector:4318/v1/traces", nil, "leave /v1/traces out: it is added"),
            ("http://collector:0", nil, "port 0 cannot be reached"),
        ] as [(String, String?, String?)])
    func collector(_ written: String, _ address: String?, _ problem: String?) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        switch try fixture.load("tracing: { endpoint: \"\(written)\" }\n" + minimalConfiguration) {
        case .success(let configuration): #expect(configuration.tracing.endpoint == address && problem == nil)
        case .failure(let errors):
            #expect("\(errors)".contains(try #require(problem)) && !"\(errors)".contains("secret"), "\(errors)")
        }
    }

    @Test(
        "a team's results queue has a name of its own kind",
        arguments: [
            ("apns.q.results.a", nil), ("apns.q.results.team-2", nil), ("apns.q.results", "the first a letter"),
            ("apns.q.results.", "the first a letter"), ("apns.q.results.2", "the first a letter"),
            ("apns.q.results.A", "the first a letter"), ("apns.q.results.a.b", "the first a letter"),
            ("shop", "must be apns.q.results. and 1 to 40"),
            ("apns.q.results.unclaimed", "is the queue for results that no other queue takes"),
        ] as [(String, String?)])
    func resultsQueue(_ name: String, _ problem: String?) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let text = minimalConfiguration.replacing("credential: k }", with: "credential: k, results_queue: \(name) }")
        let configuration = try fixture.load(text)
        switch configuration {
        case .success(let loaded): #expect(problem == nil && loaded.routes[0].resultsQueue == name)
        case .failure(let errors): #expect(problem.map { "\(errors)".contains($0) } == true, "\(errors)")
        }
    }

    @Test(
        "a file that cannot be parsed is reported at the parser's place",
        arguments: [
            ("a: [", "2:1: bad YAML: did not find expected node content (while parsing a flow node at line 2)"),
            ("prefetch: 1\nprefetch: 2\n", "1:1: \"prefetch\" is written more than once in one mapping"),
            ("\tprefetch: 1\n", "1:1: a tab indents here: YAML indents with spaces only"),
            ("retry:\n\tmax_age: 1h\n", "2:1: a tab indents here: YAML indents with spaces only"),
            ("retry:\n  \tmax_age: 1h\n", "2:3: a tab indents here: YAML indents with spaces only"),
            ("- a\n", "1:1: expected a mapping of settings, found a list"),
            (
                "prefetch: 1\n---\nprefetch: 2\n",
                "2:1: bad YAML: but found another document (expected a single document in the stream at line 1)"
            ),
        ])
    func unreadable(_ text: String, _ expected: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.errors(text) == ["martlet.yaml:\(expected)"])
    }

    @Test("a missing file, a missing route and bytes that are not text say so")
    func missing() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let gone = ConfigurationLoader.load(file: "\(fixture.directory)/none.yaml", environment: [:])
        #expect(throws: ConfigurationErrors.self) { try gone.get() }
        #expect(
            try fixture.errors("# nothing\n") == [
                "martlet.yaml:1:1: routes: at least one route is needed (or MARTLET_ROUTES)"
            ])
        try Data([0x61, 0xff, 0x20]).write(to: URL(fileURLWithPath: "\(fixture.directory)/bytes.yaml"))
        guard
            case .failure(let errors) = ConfigurationLoader.load(
                file: "\(fixture.directory)/bytes.yaml", environment: [:])
        else {
            Issue.record("bytes were accepted")
            return
        }
        #expect(errors.description == "\(fixture.directory)/bytes.yaml:1:1: the file is not UTF-8 text")
        guard case .failure(let bare) = ConfigurationLoader.load(file: nil, environment: [:]) else {
            Issue.record("nothing was accepted")
            return
        }
        #expect(bare.description == "configuration: routes: at least one route is needed (or MARTLET_ROUTES)")
    }

    @Test("a trust file without certificates is an error of apns.trust_file, where it stands")
    func trustFile() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        try fixture.write("text.pem", "nothing here\n")
        try fixture.write("empty.pem", "")
        for (file, reason) in [("text.pem", "text.pem holds no PEM certificate"), ("empty.pem", "empty.pem is empty")] {
            let errors = try fixture.errors("apns: { trust_file: \(file) }\n" + minimalConfiguration)
            #expect(errors == ["martlet.yaml:1:21: apns.trust_file: \(reason)"])
        }
    }

    @Test("a journal may be a directory, or one to be made in another; anything else is an error where it stands")
    func journal() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let top = fixture.directory
        try FileManager.default.createDirectory(atPath: "\(top)/there", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(top)/nowhere", withDestinationPath: "\(top)/x/y")
        for path in ["there", "there/", "new", "there/new/", "\(top)/new"] {
            let expected = path.hasPrefix("/") ? path : "\(top)/\(path)"
            #expect(try fixture.load("journal: \(path)\n" + minimalConfiguration).get().journal == expected)
        }
        #expect(access("\(top)/new", F_OK) != 0, "only a worker makes it")
        for (path, problem) in [
            ("key.p8", "key.p8 is not a directory"), ("key.p8/journal", "key.p8/journal is not a directory"),
            ("x/y", "cannot make x/y, for x is missing: No such file or directory"),
            ("nowhere", "cannot use nowhere: No such file or directory"),
        ] {
            let errors = try fixture.errors("journal: \(path)\n" + minimalConfiguration)
            #expect(errors == ["martlet.yaml:1:10: journal: \(problem)"])
        }
        try #require(chmod("\(top)/there", 0o500) == 0)
        let refusal = "martlet.yaml:1:10: journal: cannot write to there: Permission denied"
        // Root may write everywhere.
        #expect(try fixture.errors("journal: there\n" + minimalConfiguration) == (geteuid() == 0 ? [] : [refusal]))
    }

    @Test("no error and no description of the configuration shows a password")
    func secrets() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let yaml =
            "broker: { uri: \"amqp://u:hunter2@h:0\", management: \"gopher://u:hunter2@h\" }\n" + minimalConfiguration
        let errors = try fixture.errors(yaml, ["MARTLET_ADMIN_LISTEN": "x"])
        #expect(errors.count == 3)
        #expect(!errors.joined().contains("hunter2"))
        let good = try fixture.load(
            "broker: { uri: \"amqps://u:hunter2@h\", management: \"https://u:hunter2@h\" }\n" + minimalConfiguration
        ).get()
        var dumped = ""
        dump(good, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect(!"\(good)\(String(reflecting: good))".contains("hunter2"))
        let torn = try fixture.errors("broker: { uri: \"amqp://u:hunter2@h\n")
        #expect(torn.count == 1)
        #expect(!torn.joined().contains("hunter2"))
    }
}
