import EventLoop
import Foundation
import PushModel
import RabbitMQ
import Testing

@testable import WorkerSettings

@Suite("Configuration of the way to the broker", .timeLimit(.minutes(1)))
struct ConfigurationBrokerTests {
    private static let remedy =
        "or set broker.allow_plaintext: true where everybody on the network may read passwords, device tokens and payloads"

    static let refused: [(String, String)] = [
        (
            "broker: { uri: \"amqp://u:hunter2@broker.example\" }",
            "1:16: broker.uri: the way to broker.example is not encrypted: write amqps://, \(remedy)"
        ),
        (
            "broker:\n  uri:\n    - amqps://u:hunter2@a.example\n    - amqp://u:hunter2@10.0.0.7:5672",
            "4:7: broker.uri[1]: the way to 10.0.0.7 is not encrypted: write amqps://, \(remedy)"
        ),
        (
            "broker:\n  uri:\n    - amqps://u:hunter2@a.example\n    - amqps://u:hunter2@b.example/v",
            "4:7: broker.uri[1]: the addresses name the virtual hosts \"/\" and \"v\": all addresses of a broker have one "
                + "virtual host"
        ),
        (
            "broker: { uri: \"amqp://localhost.example\" }",
            "1:16: broker.uri: the way to localhost.example is not encrypted: write amqps://, \(remedy)"
        ),
        (
            "broker: { management: \"http://u:hunter2@broker.example:15672\" }",
            "1:23: broker.management: the way to broker.example is not encrypted: write https://, \(remedy)"
        ),
        (
            "broker: { allow_plaintext: yes }",
            "1:28: broker.allow_plaintext: \"yes\" is neither true nor false"
        ),
        (
            "broker: { uri: \"amqps://u@h\" }",
            "1:16: broker.uri: invalid AMQP URI: the password is missing; write user:password@ (or user:@ for an empty one)"
        ),
        (
            "broker: { uri: \"amqp://h?auth_mechanism=external\", tls: { cert_file: key.p8, key_file: key.p8 } }",
            "1:16: broker.uri: invalid AMQP URI: auth_mechanism=external needs amqps:// with certfile and keyfile"
        ),
        (
            "broker: { password_file: none }",
            "1:26: broker.password_file: cannot read this file: No such file or directory"
        ),
        (
            "broker: { password_file: empty }",
            "1:26: broker.password_file: cannot use empty: its first line is empty"
        ),
        (
            "broker: { password_file: binary }",
            "1:26: broker.password_file: cannot use binary: its first line is not UTF-8 text"
        ),
    ]

    @Test(
        "plaintext to another machine, and a login that is not whole, are errors with their place", arguments: refused)
    func refuses(_ text: String, _ expected: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        try fixture.write("empty", "\nhunter2\n")
        try fixture.write("binary", "hunter2\u{0}")
        let errors = try fixture.errors("\(text)\n\(minimalConfiguration)")
        #expect(errors == ["martlet.yaml:\(expected)"])
        #expect(!errors.joined().contains("hunter2"))
    }

    @Test(
        "what stays on this machine, is encrypted, or was decided otherwise is allowed",
        arguments: [
            "broker: { uri: \"amqp://localhost\" }", "broker: { uri: \"amqp://LocalHost:1\" }",
            "broker: { uri: \"amqp://LOCALHOST\" }", "broker: { uri: \"amqp://127.8.9.1\" }",
            "broker: { uri: \"amqp://[::1]\" }", "broker: { uri: \"amqp://[::ffff:127.0.0.1]\" }",
            "broker: { uri: \"amqps://u:p@broker.example\" }",
            "broker: { uri: \"amqp://u:p@broker.example\", allow_plaintext: true }",
            "broker: { management: \"http://u:p@h\", allow_plaintext: true }",
            "broker: { management: \"http://h\" }", "broker: { management: \"http://u:p@localhost\" }",
            "broker: { uri: \"amqps://h?auth_mechanism=external\", tls: { cert_file: key.p8, key_file: key.p8 } }",
        ])
    func allows(_ text: String) throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        #expect(try fixture.errors("\(text)\n\(minimalConfiguration)") == [])
    }

    @Test("a password file completes every address, wins over what stands there, and is read at each connect")
    func passwordFile() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        try fixture.write("password", "first secret \r\nnot this\n")
        let broker = try fixture.load(
            "broker: { uri: [\"amqps://u@a\", \"amqps://v:old@b\"], password_file: password, heartbeat: 7s }\n"
                + minimalConfiguration
        ).get().broker
        #expect(try broker.endpoints().map(\.password) == ["first secret ", "first secret "])
        #expect(try broker.endpoints().map(\.user) == ["u", "v"])
        #expect(try broker.endpoints().map(\.heartbeat) == [7, 7])
        try fixture.write("password", "second")
        #expect(try broker.endpoints().map(\.password) == ["second", "second"])
        try FileManager.default.removeItem(atPath: "\(fixture.directory)/password")
        let error = #expect(throws: AMQPError.self) { try broker.endpoints() }
        #expect(error?.message.contains("\(fixture.directory)/password cannot be used: No such file") == true)
    }

    @Test("a byte order mark before a configuration, an address or a password is dropped; UTF-16 is named")
    func marks() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let mark = "\u{FEFF}"
        try fixture.write("password", "\(mark)geheim \r\nmore")
        let file = try fixture.write("uri", "\(mark)amqps://u@a\r\n")
        let text = "\(mark)broker: { password_file: password }\n\(minimalConfiguration)"
        let broker = try fixture.load(text, ["MARTLET_BROKER_URI_FILE": file]).get().broker
        #expect(try broker.endpoints().map(\.password) == ["geheim "])
        let utf16 = { (text: String) in (text.data(using: .utf16LittleEndian) ?? Data()) }
        let named = "it is written in UTF-16: save it in UTF-8"
        try utf16("geheim\n").write(to: URL(fileURLWithPath: "\(fixture.directory)/password"))
        try (Data([0xFF, 0xFE]) + utf16("amqps://u@a")).write(to: URL(fileURLWithPath: file))
        #expect(
            try fixture.errors("broker: { password_file: password }\n\(minimalConfiguration)")
                == ["martlet.yaml:1:26: broker.password_file: cannot use password: \(named)"])
        #expect(
            try fixture.errors(minimalConfiguration, ["MARTLET_BROKER_URI_FILE": file])
                == ["MARTLET_BROKER_URI_FILE: cannot read uri: \(named)"])
        try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: file))
        #expect(
            try fixture.errors(minimalConfiguration, ["MARTLET_BROKER_URI_FILE": file])
                == ["MARTLET_BROKER_URI_FILE: the file uri is not UTF-8 text"])
        let yaml = "\(fixture.directory)/wide.yaml"
        try utf16(minimalConfiguration).write(to: URL(fileURLWithPath: yaml))
        guard case .failure(let errors) = ConfigurationLoader.load(file: yaml, environment: [:]) else {
            Issue.record("UTF-16 was accepted")
            return
        }
        #expect(errors.description == "\(yaml):1:1: cannot read the configuration: \(named)")
    }

    @Test("a file of addresses is read at each connect, and held to the same rules as the configuration")
    func addressFile() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let file = try fixture.write("uri", "amqps://u:one@a/v?heartbeat=3, amqps://u:two@b/v\n")
        let broker = try fixture.load(minimalConfiguration, ["MARTLET_BROKER_URI_FILE": file]).get().broker
        #expect(try broker.endpoints().map(\.password) == ["one", "two"])
        #expect(try broker.endpoints().map(\.heartbeat) == [3, 15])
        try fixture.write("uri", "[\"amqps://u:three@c\"]")
        #expect(try broker.endpoints().map(\.password) == ["three"])
        for (text, complaint) in [
            ("amqp://u:four@d.example", "the way to d.example is not encrypted"), ("", "is empty"),
            ("amqps://u:fi:ve@e", "a : in the password"),
        ] {
            try fixture.write("uri", text)
            let error = #expect(throws: AMQPError.self) { try broker.endpoints() }
            #expect(error?.message.contains(complaint) == true, "\(error as Any)")
        }
    }

    @Test(
        "a heartbeat stands in a URI as a parameter only",
        arguments: [
            ("amqps://u:heartbeat=3@h", 7), ("amqps://heartbeat=3:p@h/heartbeat=3", 7),
            ("amqps://u:p@h?heartbeat=3", 3), ("amqps://u:p@h/v?channel_max=9&heartbeat=15", 15),
        ])
    func heartbeat(uri: String, expected: Int) throws {
        let broker = BrokerConfiguration(
            uris: [SecretText(uri)], allowsPlaintext: false, heartbeat: .seconds(7), tls: BrokerTLSConfiguration())
        #expect(try broker.endpoints().map(\.heartbeat) == [expected])
    }

    @Test("a pipe in the place of a secret's file is refused and not waited for")
    func pipes() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let pipe = "\(fixture.directory)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for setting in ["broker: { password_file: pipe }", "admin: { token_file: pipe }"] {
            let errors = try fixture.errors("\(setting)\n\(minimalConfiguration)")
            #expect(errors.count == 1 && errors[0].hasSuffix(": it is not a plain file"), "\(errors)")
        }
        let errors = try fixture.errors(minimalConfiguration, ["MARTLET_BROKER_URI_FILE": pipe])
        #expect(errors == ["MARTLET_BROKER_URI_FILE: cannot read pipe: it is not a plain file"])
        let broker = BrokerConfiguration(
            uris: [SecretText("amqps://u@h")], passwordFile: pipe, allowsPlaintext: false, heartbeat: .seconds(7),
            tls: BrokerTLSConfiguration()
        )
        let error = #expect(throws: AMQPError.self) { try broker.endpoints() }
        #expect(error?.message.contains("it is not a plain file") == true)
    }

    @Test("the certificate of broker.tls is enough for EXTERNAL")
    func external() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let endpoint = try #require(
            try fixture.load(
                "broker: { uri: \"amqps://h?auth_mechanism=external\", tls: { cert_file: key.p8, key_file: key.p8 } }\n"
                    + minimalConfiguration
            ).get().broker.endpoints().first)
        #expect(endpoint.saslExternal)
        #expect(endpoint.tls.certFile == "\(fixture.directory)/key.p8")
    }
}
