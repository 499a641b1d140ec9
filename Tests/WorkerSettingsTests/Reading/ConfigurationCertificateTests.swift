import Foundation
import LocalStack
import PushModel
import TLS
import TestSupport
import Testing

@testable import WorkerSettings

@Suite("Configuration of certificates", .timeLimit(.minutes(1)))
struct ConfigurationCertificateTests {
    private let apple: AppleStyleCertificates

    init() throws {
        apple = try AppleStyleCertificates()
        try apple.issue("push")
        _ = try apple.pack("push", password: "geheim", ["-legacy"])
        try apple.directory.write("geheim\n", to: "password")
        var development = AppleStyleCertificates.Content()
        development.isForProduction = false
        development.topics = nil
        try apple.issue("development", development)
        var nameless = AppleStyleCertificates.Content()
        nameless.userID = nil
        nameless.topics = nil
        try apple.issue("nameless", nameless)
    }

    private func load(_ credentials: String, _ routes: String) throws -> Result<
        WorkerConfiguration, ConfigurationErrors
    > {
        let text = "credentials:\n\(credentials)\nroutes:\n\(routes)\n"
        let file = try apple.directory.write(text, to: "martlet.yaml")
        return ConfigurationLoader.load(file: file, environment: [:])
    }

    /// The errors of a configuration, without the directory.
    private func errors(_ credentials: String, _ routes: String) throws -> [String] {
        guard case .failure(let errors) = try load(credentials, routes) else { return [] }
        return errors.all.map { $0.description.replacingOccurrences(of: "\(apple.directory.path)/", with: "") }
    }

    @Test("a certificate comes from a PKCS#12 file with its password, or from two PEM files")
    func sources() throws {
        let configuration = try load(
            """
              - { name: p12, kind: certificate, file: push.p12, password_file: password }
              - { name: pem, kind: certificate, cert_file: development.pem, key_file: development.key }
            """,
            """
              - { name: a, environment: production, topics: [com.example.app], credential: p12 }
              - { name: b, environment: development, topics: [com.example.app], credential: pem, omit_topic: true }
            """
        ).get()
        let directory = apple.directory.path
        #expect(
            configuration.credentials == [
                .certificate(
                    .init(
                        name: "p12",
                        source: .pkcs12(file: "\(directory)/push.p12", passwordFile: "\(directory)/password"))),
                .certificate(
                    .init(
                        name: "pem",
                        source: .pem(
                            certificateFile: "\(directory)/development.pem", keyFile: "\(directory)/development.key"))),
            ])
        #expect(configuration.routes.map(\.omitTopic) == [false, true])
        #expect(configuration.credentials[0].files == ["\(directory)/push.p12", "\(directory)/password"])
    }

    @Test(
        "a credential whose files cannot be used keeps only its own routes from working",
        arguments: [
            "file: gone.p12", "file: push.p12", "file: push.p12, password_file: gone",
            "cert_file: nameless.pem, key_file: nameless.key",
        ])
    func unusable(files: String) throws {
        let credentials = """
              - { name: bad, kind: certificate, \(files) }
              - { name: good, kind: certificate, file: push.p12, password_file: password }
            """
        func routes(_ second: String) -> String {
            """
              - { name: a, environment: production, topics: [com.example.other], credential: bad }
              - { name: b, environment: production, topics: [com.example.app], credential: \(second) }
            """
        }
        let configuration = try load(credentials, routes("good")).get()
        #expect(configuration.routes.map(\.credential) == ["bad", "good"])
        #expect(configuration.credentials.map(\.name) == ["bad", "good"])
        #expect(try errors(credentials, routes("bad")).count == 1, "no route could work")
        #expect(try errors(credentials, routes("good") + "\nprefetch: 0").count == 2, "one run reports everything")
    }

    @Test(
        "a certificate that is not for a route keeps only this route from working",
        arguments: [
            "environment: production, topics: [com.example.other], credential: c",
            "environment: development, topics: [com.example.app], credential: d",
            "environment: development, topics: [com.example.app], credential: c, omit_topic: true",
        ])
    func unfit(route: String) throws {
        var production = AppleStyleCertificates.Content()
        production.isForDevelopment = false
        production.topics = nil
        try apple.issue("production", production)
        let credentials = """
              - { name: c, kind: certificate, file: push.p12, password_file: password }
              - { name: d, kind: certificate, cert_file: production.pem, key_file: production.key }
            """
        let bad = "  - { name: bad, \(route) }"
        let good = "  - { name: good, environment: production, topics: [com.example.app], credential: c }"
        let configuration = try load(credentials, "\(bad)\n\(good)").get()
        #expect(configuration.routes.map(\.name) == ["bad", "good"])
        #expect(try errors(credentials, bad).count == 1, "no route could work")
    }

    @Test("a certificate that has expired is not a fault of the configuration: its route is parked later")
    func expired() throws {
        var content = AppleStyleCertificates.Content()
        content.notBefore = "20240101000000Z"
        content.notAfter = "20250101000000Z"
        try apple.issue("old", content)
        let result = try load(
            "  - { name: c, kind: certificate, cert_file: old.pem, key_file: old.key }",
            "  - { name: a, environment: production, topics: [com.example.app], credential: c }")
        #expect(try result.get().credentials.count == 1)
    }

    @Test("a byte order mark before the password of a PKCS#12 file is dropped")
    func passwordWithMark() throws {
        try apple.directory.write("\u{FEFF}geheim\r\n", to: "marked")
        let result = try load(
            "  - { name: c, kind: certificate, file: push.p12, password_file: marked }",
            "  - { name: a, environment: production, topics: [com.example.app], credential: c }")
        #expect(try result.get().credentials.count == 1)
    }

    @Test("who needs the broker alone gets a configuration whose certificates are for something else, or unreadable")
    func brokerAlone() throws {
        let text = """
            credentials:
              - { name: c, kind: certificate, cert_file: push.pem, key_file: push.key }
              - { name: d, kind: certificate, file: gone.p12 }
            routes:
              - { name: a, environment: production, topics: [com.other], credential: c }
              - { name: b, environment: production, topics: [com.another], credential: d }
            """
        let file = try apple.directory.write(text, to: "martlet.yaml")
        let configuration = try ConfigurationLoader.load(file: file, environment: [:], need: .broker).get()
        #expect(configuration.routes.map(\.name) == ["a", "b"])
        guard case .failure = ConfigurationLoader.load(file: file, environment: [:]) else {
            Issue.record("no route can push")
            return
        }
        try apple.directory.write("prefetch: many\n\(text)", to: "martlet.yaml")
        guard case .failure(let errors) = ConfigurationLoader.load(file: file, environment: [:], need: .broker) else {
            Issue.record("it has another fault")
            return
        }
        #expect(errors.description.contains("prefetch"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let credential: String
        var route = "environment: production, topics: [com.example.app], credential: c"
        let errors: [String]

        var testDescription: String { name }

        init(_ name: String, _ credential: String, route: String? = nil, _ errors: [String]) {
            self.name = name
            self.credential = credential
            self.errors = errors
            if let route { self.route = route }
        }
    }

    private static let pem = "cert_file: push.pem, key_file: push.key"

    @Test(
        "what is wrong with a certificate or its route is reported with line and column",
        arguments: [
            Case(
                "missing file", "file: gone.p12",
                ["2:41: credentials[0].file: cannot read gone.p12: No such file or directory"]),
            Case("wrong password", "file: push.p12", ["2:41: credentials[0]: push.p12: the password is wrong"]),
            Case(
                "missing password file", "file: push.p12, password_file: gone",
                ["2:66: credentials[0].password_file: cannot read this file: No such file or directory"]),
            Case("nothing", "key_file: null", ["2:5: credentials[0]: needs file, or cert_file and key_file"]),
            Case("half", "cert_file: push.pem", ["2:5: credentials[0].key_file: is required"]),
            Case(
                "both", "file: push.p12, password_file: password, key_file: push.key",
                ["2:86: credentials[0].key_file: give either file, or cert_file and key_file, not both"]),
            Case(
                "password for PEM", "\(pem), password_file: password",
                ["2:91: credentials[0].password_file: belongs to file, a PKCS#12 file"]),
            Case(
                "a token's keys", "\(pem), key_id: ABC1234567, team_id: DEF1234567",
                [
                    "2:84: credentials[0].key_id: belongs to kind token, not certificate",
                    "2:105: credentials[0].team_id: belongs to kind token, not certificate",
                ]),
            Case(
                "a stranger's key", "cert_file: push.pem, key_file: nameless.key",
                [
                    "2:46: credentials[0]: the key in nameless.key is not the key of "
                        + "CN=Apple Push Services: push,UID=com.example.app: key values mismatch"
                ]),
            Case(
                "no topic", "cert_file: nameless.pem, key_file: nameless.key",
                [
                    "2:46: credentials[0]: CN=Apple Push Services: nameless names no topic: this is not a certificate for APNs"
                ]),
            Case(
                "another topic", pem,
                route: "environment: production, topics: [com.example.app, com.other], credential: c",
                [
                    "4:67: routes[0].topics: the certificate of \"c\" is not for \"com.other\": it is for "
                        + "com.example.app, com.example.app.voip, com.example.app.complication"
                ]),
            Case(
                "the other environment", "cert_file: development.pem, key_file: development.key",
                ["4:29: routes[0].environment: the certificate of \"c\" is for development only"]),
            Case(
                "several topics", pem,
                route: "environment: production, topics: [com.example.app], credential: c, omit_topic: true",
                [
                    "4:95: routes[0].omit_topic: the certificate of \"c\" has several topics (com.example.app, "
                        + "com.example.app.voip, com.example.app.complication), so that each push must name its own"
                ]),
        ])
    func wrong(example: Case) throws {
        let found = try errors(
            "  - { name: c, kind: certificate, \(example.credential) }", "  - { name: a, \(example.route) }")
        #expect(found == example.errors.map { "martlet.yaml:\($0)" })
    }

    @Test("leaving the topic out needs a certificate")
    func omitWithToken() throws {
        try apple.directory.write("key", to: "key.p8")
        let found = try errors(
            "  - { name: c, kind: token, key_file: key.p8, key_id: ABC1234567, team_id: DEF1234567 }",
            "  - { name: a, environment: production, topics: [com.a], credential: c, omit_topic: true }")
        #expect(
            found == [
                "martlet.yaml:4:85: routes[0].omit_topic: needs a certificate: with a token each push names its topic"
            ])
    }
}
