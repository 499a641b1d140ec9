import LocalStack
import RabbitMQ
import Testing

@testable import MartletCommands

@Suite("Which broker is meant", .timeLimit(.minutes(1)))
struct BrokerOptionsTests {
    /// A directory with what production's variables name, and those variables.
    private static func production() throws -> (directory: TemporaryDirectory, variables: [String: String]) {
        let directory = try TemporaryDirectory()
        var variables = ["MARTLET_BROKER_ALLOW_PLAINTEXT": "true"]
        for (name, file) in [
            ("PASSWORD_FILE", "password"), ("TLS_CA_FILE", "ca"), ("TLS_CERT_FILE", "cert"), ("TLS_KEY_FILE", "key"),
        ] {
            variables["MARTLET_BROKER_\(name)"] = try directory.write("production-\(file)\n", to: file)
        }
        return (directory, variables)
    }

    @Test("With --broker no password, certificate, trust or leave of the environment counts")
    func option() throws {
        let (directory, variables) = try Self.production()
        defer { directory.remove() }
        let target = BrokerSettings(uri: "amqps://u:own@other.example")
        let environments = [variables, variables.merging(["MARTLET_BROKER_URI": "amqps://u@h"]) { $1 }]
        for environment in environments {
            let endpoint = try #require(try target.endpoints(environment: environment).first)
            #expect(endpoint.host == "other.example" && endpoint.password == "own")
            #expect(endpoint.tls.caFile == nil && endpoint.tls.certFile == nil && endpoint.tls.keyFile == nil)
            for uri in ["amqps://u@other.example", "amqp://u:own@other.example"] {
                let failure = #expect(throws: CommandFailure.self) {
                    try BrokerSettings(uri: uri).endpoints(environment: environment)
                }
                #expect(failure?.status == .usage)
            }
        }
        let named = BrokerSettings(
            uri: "amqps://u@other.example", caFile: directory.file("ca"), certificateFile: directory.file("cert"),
            keyFile: directory.file("key"), passwordFile: try directory.write("given", to: "given"))
        let endpoint = try #require(try named.endpoints(environment: variables).first)
        #expect(endpoint.password == "given" && endpoint.tls.keyFile == directory.file("key"))
    }

    @Test("Without a URI anywhere the default's own login goes to the default")
    func nothing() throws {
        let endpoints = try BrokerSettings().endpoints(environment: try Self.production().variables)
        #expect(endpoints.map(\.host) == ["localhost"] && endpoints.map(\.password) == ["guest"])
    }

    @Test(
        "A URI of the environment goes with the environment's other variables, and options win",
        arguments: [true, false])
    func environment(isFile: Bool) throws {
        let (directory, variables) = try Self.production()
        defer { directory.remove() }
        let uri = "amqps://u@a.example,amqps://u:old@b.example"
        var environment = variables.merging(["MARTLET_BROKER_URI": isFile ? "" : uri]) { $1 }
        if isFile { environment["MARTLET_BROKER_URI_FILE"] = try directory.write("\(uri)\n", to: "uri") }
        let endpoints = try BrokerSettings().endpoints(environment: environment)
        #expect(Set(endpoints.map(\.host)) == ["a.example", "b.example"])
        for endpoint in endpoints {
            #expect(endpoint.password == "production-password" && endpoint.tls.caFile == directory.file("ca"))
            #expect(endpoint.tls.certFile == directory.file("cert") && endpoint.tls.keyFile == directory.file("key"))
        }
        let target = BrokerSettings(passwordFile: try directory.write("given", to: "given"))
        #expect(try target.endpoints(environment: environment).allSatisfy { $0.password == "given" })
    }

    @Test("A shell's pipe may hold the password of an option")
    func pipe() throws {
        let outcome = try ChildProcess.run(
            "/bin/bash",
            ["-c", "\"$0\" results --broker amqp://u@127.0.0.1:1/ --broker-password-file <(echo x)", Executable.path],
            environment: [:], timeout: .seconds(50))
        #expect(outcome.status == CommandStatus.unreachable.rawValue, "\(outcome.errorText)")
    }
}
