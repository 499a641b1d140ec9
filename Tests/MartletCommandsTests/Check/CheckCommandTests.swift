import LocalStack
import TestSupport
import Testing

@testable import MartletCommands

@Suite("Check", .serialized, .timeLimit(.minutes(3)))
struct CheckCommandTests {
    /// Holds configuration, keys and certificates.
    private let directory: TemporaryDirectory
    private let credentials: DemoCredentials
    private let certificates: DemoCertificates

    init() throws {
        directory = try TemporaryDirectory()
        credentials = try DemoCredentials(in: directory)
        certificates = try DemoCertificates(in: directory)
    }

    /// Writes a configuration whose route fits the shared broker.
    private func configuration(
        broker: String, apns: Int, management: String? = nil, trust: Bool = true, tiers: String = "2s",
        hosts: String = ""
    ) throws -> String {
        try directory.write(
            """
            broker: { uri: "\(broker)", management: \(management.map { "\"\($0)\"" } ?? "null") }
            apns:
              production: "https://localhost:\(apns)"
              trust_file: \(trust ? certificates.authorityFile : "null")
              \(hosts)
            credentials:
              - { name: key, kind: token, key_file: \(credentials.keyFile), key_id: DEMOKEY001, team_id: DEMOTEAM01 }
            routes:
              - { name: shop, environment: production, topics: [com.a], credential: key }
            retry: { tiers: [\(tiers)], holding_tiers: [2s] }
            """, to: "martlet.yaml")
    }

    /// An HTTP/2 server with TLS that somebody else wrote.
    private func server() throws -> (process: ChildProcess, port: Int) {
        let port = try FreePort.next()
        let process = try ChildProcess.start(
            "nghttpd", ["-a", "127.0.0.1", "\(port)", certificates.keyFile, certificates.certificateFile])
        try process.awaitListening(on: port)
        return (process, port)
    }

    @Test("Where everything is in order, every step says so")
    func good() throws {
        let server = try server()
        let file = try configuration(broker: try SharedBroker.broker.get().uri, apns: server.port)
        let outcome = try Executable.run(["check", "-c", file])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("ok ") })
        #expect(lines.contains { $0.contains("apns production") && $0.contains("HTTP/2") })
        #expect(lines.contains { $0.contains("queue apns.q.jobs.shop ") && $0.hasSuffix("waiting, no consumer") })
        #expect(lines.contains { $0.contains("queue apns.q.results ") && $0.hasSuffix("waiting") })
    }

    @Test(
        "A tier that keeps its copies is named with the command that mends it, where the management API is configured")
    func tiers() throws {
        let (server, broker) = (try server(), try PrivateBroker.start(PrivateBrokerOptions(management: true)))
        let file = try configuration(broker: broker.uri, apns: server.port, management: broker.managementURI)
        #expect(try Executable.run(["topology", "apply", "-c", file]).status == 0)
        let good = try Executable.run(["check", "-c", file])
        #expect(good.status == 0 && good.text.contains("comes back"), "\(good.text)\(good.errorText)")
        try broker.control(["clear_policy", "apns.q.retry.2s"])
        let bad = try Executable.run(["check", "-c", file])
        #expect(bad.status == 1, "\(bad.text)\(bad.errorText)")
        let topology = try Executable.run(["topology", "check", "-c", file])
        for text in [bad.text, topology.text] {
            #expect(text.contains("policy apns.q.retry.2s") && text.contains("the tier keeps its copies"), "\(text)")
            #expect(text.contains("martlet topology apply"), "\(text)")
        }
        let elsewhere = try configuration(broker: broker.uri, apns: server.port, management: "http://u:secret@[::1]:1")
        let unseen = try Executable.run(["check", "-c", elsewhere])
        #expect(unseen.status == 0 && unseen.text.contains("warning  tiers"), "\(unseen.text)\(unseen.errorText)")
        #expect(!unseen.text.contains("secret"))
        let untrusted = try configuration(
            broker: broker.uri, apns: server.port, management: "https://u:secret@localhost:\(server.port)")
        let doubtful = try Executable.run(["topology", "check", "-c", untrusted])
        #expect(doubtful.status == 69 && doubtful.errorText.contains("update-ca-certificates"), "\(doubtful.errorText)")
    }

    @Test("Too few channels are no missing permission: those of the URI suffice, and the broker's are named")
    func channels() throws {
        let server = try server()
        let shared = try SharedBroker.broker.get().uri
        let missing = "2s, 7s"
        let file = try configuration(broker: "\(shared)?channel_max=1", apns: server.port, tiers: missing)
        let mine = try Executable.run(["check", "-c", file])
        #expect(mine.status == 69 && !mine.text.contains("does not show it"), "\(mine.text)\(mine.errorText)")

        let broker = try PrivateBroker.start(PrivateBrokerOptions(configuration: ["channel_max = 1"]))
        try broker.importDefinitions(json: SharedBroker.definitions)
        let small = try Executable.run(
            ["check", "-c", try configuration(broker: broker.uri, apns: server.port, tiers: missing)])
        #expect(small.text.contains("allows 1 channels") && small.text.contains("raise channel_max"), "\(small.text)")
        #expect(small.status != 0 && !small.text.contains("does not show it"), "\(small.text)")
    }

    @Test("A server nobody vouches for, a missing queue or exchange and a broken key are named, each with its remedy")
    func bad() throws {
        let server = try server()
        try directory.write(
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", to: "AuthKey_DEMOKEY001.p8")
        let file = try configuration(
            broker: try SharedBroker.broker.get().uri, apns: server.port, trust: false, tiers: "2s, 7s")
        let outcome = try Executable.run(["check", "-c", file, "--output", "json"])
        let failed = outcome.text.split(separator: "\n").filter { $0.contains(#""verdict":"failed""#) }
        #expect(outcome.status == 78, "\(outcome.text)\(outcome.errorText)")
        #expect(failed.count == 6, "\(failed)")
        #expect(failed.contains { $0.contains("credential key") && $0.contains("developer portal") })
        for tier in ["7s", "hold.7s"] {
            for object in ["queue apns.q.retry.\(tier)", "exchange apns.retry.\(tier)"] {
                #expect(failed.contains { $0.contains(object) && $0.contains("martlet topology apply") })
            }
        }
        #expect(failed.contains { $0.contains("apns production") && $0.contains("apns.trust_file") })
    }

    @Test(
        "The hosts for broadcast channels are tried like APNs itself, where they are others; none of them is pushed to")
    func broadcastChannels() throws {
        let server = try server()
        let hosts = { (port: Int) in "channels: { production: \"https://localhost:\(port)\" }" }
        let broker = try SharedBroker.broker.get().uri
        func check(_ hosts: String) throws -> (status: Int32, lines: [Substring]) {
            let file = try configuration(broker: broker, apns: server.port, hosts: hosts)
            let outcome = try Executable.run(["check", "-c", file])
            return (outcome.status, outcome.text.split(separator: "\n"))
        }
        let other = try self.server()
        let good = try check(hosts(other.port))
        #expect(good.status == 0, "\(good.lines)")
        #expect(good.lines.contains { $0.hasPrefix("ok") && $0.contains("apns.channels production") })
        #expect(!good.lines.contains { $0.contains("apns.broadcast") }, "it is the host of pushes")
        let missing = try check("broadcast: { production: \"https://localhost:\(try FreePort.next())\" }")
        #expect(missing.status == 69, "\(missing.lines)")
        #expect(missing.lines.contains { $0.hasPrefix("failed") && $0.contains("apns.broadcast production") })
        #expect(missing.lines.contains { $0.hasPrefix("ok") && $0.contains("apns production") })
        #expect(!missing.lines.contains { $0.contains("apns.channels") }, "nobody named a host for it")
    }

    @Test("A broker that is not there is unreachable; without network only the files are checked")
    func unreachable() throws {
        let file = try configuration(broker: "amqp://u:secret@127.0.0.1:1/", apns: 1)
        let outcome = try Executable.run(["check", "-c", file])
        #expect(outcome.status == 69)
        #expect(!outcome.text.contains("secret"))
        #expect(outcome.text.contains("→ Is RabbitMQ running there? Compare host and port with broker.uri"))
        #expect(!outcome.text.contains("martlet check"), "the one who reads this has just run it")
        let offline = try Executable.run(["check", "-c", file, "--offline"])
        #expect(offline.status == 0)
        #expect(offline.text.split(separator: "\n").count == 2)
    }

    @Test(
        "A certificate is shown with its topics and its end, one that runs out with a remedy; Apple's roots are looked for"
    )
    func certificate() throws {
        let apple = try AppleStyleCertificates()
        try apple.issue("long")
        var content = AppleStyleCertificates.Content()
        content.notBefore = "20240101000000Z"
        content.notAfter = "20250101000000Z"
        try apple.issue("old", content)
        content.notBefore = "20970101000000Z"
        content.notAfter = "20980101000000Z"
        try apple.issue("new", content)
        let file = try apple.directory.write(
            """
            credentials:
              - { name: long, kind: certificate, cert_file: long.pem, key_file: long.key }
              - { name: old, kind: certificate, cert_file: old.pem, key_file: old.key }
              - { name: new, kind: certificate, cert_file: new.pem, key_file: new.key }
            routes:
              - { name: shop, environment: production, topics: [com.example.app], credential: long }
              - { name: test, environment: development, topics: [com.example.app], credential: old }
            """, to: "martlet.yaml")
        let outcome = try Executable.run(["check", "-c", file, "--offline"])
        let lines = outcome.text.split(separator: "\n")
        #expect(outcome.status == 78, "\(outcome.text)\(outcome.errorText)")
        #expect(
            lines.contains { $0.hasPrefix("ok") && $0.contains("com.example.app.voip") && $0.contains("valid until") })
        #expect(lines.contains { $0.hasPrefix("failed") && $0.contains("2025-01-01 00:00:00 UTC: expired") })
        #expect(lines.contains { $0.hasPrefix("failed") && $0.contains(": not valid before 2097-01-01 00:00:00 UTC") })
        #expect(outcome.text.contains("→ Renew it in Apple's developer portal"))
        for root in ["USERTrust RSA Certification Authority", "AAA Certificate Services"] {
            #expect(lines.filter { $0.contains("root \(root)") }.count == 1)
        }
    }

    @Test("APNs is tried through the proxy, which is named without its password, and blamed when it is to blame")
    func proxy() throws {
        let server = try server()
        let ports = try FreePort.several(2)
        let settings = try directory.write(
            "Port \(ports[0])\nListen 127.0.0.1\nBasicAuth martlet open-sesame\n", to: "tinyproxy.conf")
        let tinyproxy = try ChildProcess.start(
            "tinyproxy", ["-d", "-c", settings], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        try tinyproxy.awaitListening(on: ports[0])
        let file = try configuration(broker: "amqp://127.0.0.1:1/", apns: server.port)
        func check(_ proxy: String) throws -> String {
            let outcome = try Executable.run(["check", "-c", file], environment: ["MARTLET_APNS_PROXY": proxy])
            #expect(!outcome.text.contains("sesame"))
            return outcome.text
        }
        let good = try check("http://martlet:open-sesame@127.0.0.1:\(ports[0])")
        #expect(good.contains("through the proxy http://127.0.0.1:\(ports[0]), TLSv1.3, HTTP/2"), "\(good)")
        let stranger = try check("http://127.0.0.1:\(ports[0])")
        #expect(stranger.contains("(407)") && stranger.contains("apns.proxy"), "\(stranger)")
        let missing = try check("http://127.0.0.1:\(ports[1])")
        #expect(missing.contains("the proxy http://127.0.0.1:\(ports[1])"), "\(missing)")
    }

    @Test("Every fault of the configuration is a step of its own")
    func configuration() throws {
        let file = try directory.write("prefetch: many\nnonsense: 1\n", to: "bad.yaml")
        let outcome = try Executable.run(["check", "-c", file])
        #expect(outcome.status == 78)
        #expect(outcome.text.contains("\(file):1:11"))
        #expect(outcome.text.contains("\(file):2:1"))
        #expect(outcome.text.contains("skipped  broker"))
    }

    @Test("A setting that is gone is a warning that names it, in the file and in the environment")
    func gone() throws {
        let outcome = try Executable.run([
            "check", "--offline", "-c", try directory.write("lanes: 1\n", to: "gone.yaml"),
        ])
        #expect(!outcome.text.contains("unknown key"))
        let refused = try Executable.run(["check", "--offline"], environment: ["MARTLET_LANES": "4"])
        #expect(refused.status == 78 && refused.text.contains("run 4 workers"))
    }

    @Test("A configuration that is nested as deep as YAML allows is an error, and ends nothing")
    func deepConfiguration() throws {
        let text = String(repeating: "{a: ", count: 850) + "1" + String(repeating: "}", count: 850)
        let outcome = try Executable.run(["check", "--offline", "-c", try directory.write(text, to: "deep.yaml")])
        #expect(outcome.status == 78)
    }

    @Test("A file that is not PKCS#12 fails with 78, and the words say which file and what it is")
    func notContainers() throws {
        let apple = try AppleStyleCertificates()
        try apple.issue("push")
        let container = try apple.pack("push", password: "x")
        try apple.openssl(
            "x509", "-in", apple.directory.file("push.pem"), "-outform", "DER", "-out", apple.directory.file("der.p12"))
        try apple.openssl("base64", "-in", container, "-out", apple.directory.file("base64.p12"))
        try apple.directory.write([0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2], to: "jks.p12")
        try apple.directory.write("<!DOCTYPE html>\n<html></html>\n", to: "html.p12")
        for (name, words) in [
            ("push.pem", "it holds a certificate in PEM"), ("der.p12", "it is a certificate in DER"),
            ("jks.p12", "it is a key store of Java"), ("html.p12", "it is a web page"),
            ("base64.p12", "it is a PKCS#12 file in base64"),
        ] {
            let file = try apple.directory.write(
                """
                credentials: [ { name: c, kind: certificate, file: \(name) } ]
                routes: [ { name: r, environment: production, topics: [com.example.app], credential: c } ]
                """, to: "martlet.yaml")
            for options in [["--offline"], [], ["--offline", "--output", "json"]] {
                let outcome = try Executable.run(["check", "-c", file] + options)
                #expect(outcome.status == 78, "\(name): \(outcome.text)\(outcome.errorText)")
                let line = outcome.text.split(separator: "\n").first { $0.contains("failed") }
                #expect(line?.contains("\(name) is not a PKCS#12 file: \(words)") == true, "\(outcome.text)")
            }
        }
    }

    @Test("A configuration with one fault fails with 78, also where the words of the fault look like a count of faults")
    func faultLikeCount() throws {
        let file = try configuration(broker: "amqp://u:p@127.0.0.1:1", apns: 1)
        let good = try ChildProcess.run("/bin/cat", [file]).text
        try directory.write("\"1 error\\nx\": 1\n\(good)", to: "martlet.yaml")
        let outcome = try Executable.run(["check", "--offline", "-c", file])
        #expect(outcome.status == 78, "\(outcome.text)\(outcome.errorText)")
        #expect(outcome.text.contains("unknown key"), "\(outcome.text)")
    }

    @Test("A key that is no .p8 file as Apple gives it fails with what it is; a blank after a password is a warning")
    func oddFiles() throws {
        try directory.write("<html>", to: "AuthKey_DEMOKEY001.p8")
        try directory.write("\u{FEFF}secret \r\n", to: "password")
        let uri = "amqp://u@127.0.0.1:1/\", password_file: \"password"
        let file = try configuration(broker: uri, apns: 1)
        let outcome = try Executable.run(["check", "-c", file, "--offline"])
        #expect(outcome.status == 78)
        #expect(outcome.text.contains("AuthKey_DEMOKEY001.p8 is a web page or other markup"), "\(outcome.text)")
        let warning = "warning  password of broker.password_file  it ends with a blank"
        #expect(outcome.text.contains(warning), "\(outcome.text)")
        #expect(!outcome.text.contains("secret"))
    }

    @Test("A verdict is coloured on a terminal, but not where NO_COLOR holds something", arguments: [nil, "", "1"])
    func colours(_ noColour: String?) throws {
        let file = try directory.write("nonsense: 1\n", to: "bad.yaml")
        let process = try Executable.startOnTerminal(
            ["check", "-c", file], environment: noColour.map { ["NO_COLOR": $0] } ?? [:],
            output: directory.file("shown"))
        #expect(process.wait(timeout: .seconds(50)) == .exited(78))
        let text = try ChildProcess.run("/bin/cat", [directory.file("shown")]).text
        #expect(text.contains("\u{1b}[31mfailed\u{1b}[0m") == (noColour != "1"), "\(text)")
        #expect(text.contains("\u{1b}") == (noColour != "1"), "\(text)")
    }

    @Test("A push finds its way through TLS when the broker's authority is named, and is refused otherwise")
    func encrypted() throws {
        let broker = try PrivateBroker.start(
            PrivateBrokerOptions(
                tls: PrivateBrokerOptions.TLS(
                    authorityFile: certificates.authorityFile, certificateFile: certificates.certificateFile,
                    keyFile: certificates.keyFile)))
        try broker.importDefinitions(json: SharedBroker.definitions)
        let arguments = [
            "push", "a1", "--topic", "com.a", "--environment", "production", "--alert", "x",
            "--broker", "amqps://guest:guest@localhost:\(broker.tlsPort)/",
        ]
        let trusting = try Executable.run(arguments + ["--broker-ca-file", certificates.authorityFile])
        #expect(trusting.status == 0, "\(trusting.errorText)")
        let doubting = try Executable.run(arguments)
        #expect(doubting.status == 69, "\(doubting.errorText)")
        #expect(doubting.errorText.contains("--broker-ca-file"))
        let file = try configuration(broker: "amqps://guest:guest@localhost:\(broker.tlsPort)/", apns: 1)
        let check = try Executable.run(["check", "-c", file])
        #expect(check.status == 69 && check.text.contains("broker.tls.ca_file"), "\(check.text)")
        #expect(!check.text.contains("--broker-ca-file"), "check has no such option")
    }
}
