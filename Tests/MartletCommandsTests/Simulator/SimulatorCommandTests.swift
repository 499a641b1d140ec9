import APNSSimulator
import ArgumentParser
import FoundationEssentials
import LocalStack
import TLS
import TestSupport
import Testing

@testable import MartletCommands

@Suite("The simulator's command", .timeLimit(.minutes(1)))
struct SimulatorCommandTests {
    @Test("A provider certificate is written for its owner only, with its key, and its serial number is printed")
    func certificate() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.makeDirectory("out") + "/push.pem"
        let state = try directory.makeDirectory("state")
        let outcome = try Executable.run([
            "simulator", "certificate", "--topic", "com.example.app", "--topic", "com.example.app.voip", "--out", file,
            "--state-directory", state,
        ])
        #expect(outcome.status == 0)
        let pem = [UInt8](try Data(contentsOf: URL(filePath: file)))
        let certificate = try PeerCertificate(pem: pem)
        #expect(certificate.userID == "com.example.app")
        #expect(outcome.text.trimmingSuffix("\n") == certificate.serialNumber)
        #expect(try CertificateIdentity(certificatePEM: pem, keyPEM: pem).subject == certificate.subject)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(FileManager.default.fileExists(atPath: state + "/provider-ca.pem"))
    }

    @Test(
        "Impossible options are told, with their exit code",
        arguments: [
            (["certificate", "--topic", "a b", "--out", "/dev/null"], 78),
            (["certificate", "--topic", "a.b", "--out", "/nonexistent/x"], 66), (["--round-trip", "soon"], 64),
            (["--second-team", "Nonsense"], 64), (["--errors-until-shrink", "-1"], 64),
            (["--client-trust", "/nonexistent"], 77), (["--further-host", "nowhere"], 78),
        ] as [([String], Int32)])
    func mistakes(_ arguments: [String], _ status: Int32) throws {
        let directory = try TemporaryDirectory()
        let state = try directory.makeDirectory("state")
        let common = ["--state-directory", state, "--port", "0", "--admin-port", "0", "--allow-any-key"]
        let outcome = try Executable.run(["simulator"] + common + arguments)
        #expect(outcome.status == status)
    }

    @Test("Every switch reaches the simulator's configuration")
    func switches() throws {
        let command = try #require(
            try SimulatorCommand.parseAsRoot([
                "--further-host", "127.0.0.2", "--client-trust", "a.pem", "--round-trip", "40ms", "--idle-timeout",
                "1h",
                "--errors-until-shrink", "1", "--errors-until-disconnect", "2", "--connections-per-minute", "3",
                "--token-update-interval", "0s", "--refresh-scope", "team", "--refresh-penalty", "connection",
                "--second-team", "Forbidden", "--other-environment", "BadEnvironmentKeyInToken",
                "--topic-outside-certificate", "DeviceTokenNotForTopic", "--bad-certificate", "alert",
                "--certificate-environment", "goaway-twice",
            ]) as? SimulatorCommand)
        var configuration = SimulatorConfiguration(stateDirectory: "")
        command.rules.apply(to: &configuration)
        #expect(configuration.furtherHosts == ["127.0.0.2"] && configuration.clientTrustFiles == ["a.pem"])
        #expect(configuration.roundTrip == 40)
        var limits = GatewayLimits()
        (limits.idleTimeout, limits.errorsUntilShrink, limits.errorsUntilDisconnect) = (3_600_000, 1, 2)
        (limits.connectionsPerMinute, limits.tokenUpdateInterval) = (3, 0)
        #expect(configuration.limits == limits)
        var trust = TrustChoices()
        (trust.refreshScope, trust.refreshPenalty, trust.secondTeam) = (.team, .connection, .forbidden)
        (trust.otherEnvironment, trust.topicOutsideCertificate) = (.badEnvironmentKey, .deviceTokenNotForTopic)
        (trust.badCertificate, trust.certificateEnvironment) = (.alert, .goawayTwice)
        #expect(configuration.trust == trust)
    }

    @Test("Simulator lists the ports, with the numbers that they have by themselves")
    func ports() throws {
        let command = try #require(try SimulatorCommand.parseAsRoot([]) as? SimulatorCommand)
        func devices(_ environment: ServiceEnvironment) -> DeviceConfiguration {
            var configuration = SimulatorConfiguration(stateDirectory: "")
            (configuration.port, configuration.environment) = (command.port, environment)
            command.deviceOptions.apply(to: &configuration)
            return configuration.devices
        }
        let (development, production) = (devices(.development), devices(.production))
        let rows = try Page(documentation: "Simulator").rows("port", in: "Start it").map { [$0[0], $0[1]] }
        let management = "\(development.managementPort ?? 0), \(production.managementPort ?? 0) for production"
        #expect(
            rows == [
                ["`--port`", "\(command.port)"], ["`--admin-port`", "\(command.adminPort)"],
                ["`--device-port`", "\(development.port ?? 0)"], ["`--management-port`", management],
            ])
        let options = try #require(CommandTree(SimulatorCommand.self)).options
        for row in rows { #expect(Page.quoted(row[0]).allSatisfy { options[$0] == true }) }
    }

    @Test("Without switches the defaults of the library hold")
    func defaults() throws {
        let command = try #require(try SimulatorCommand.parseAsRoot([]) as? SimulatorCommand)
        var configuration = SimulatorConfiguration(stateDirectory: "")
        command.rules.apply(to: &configuration)
        #expect(configuration.limits == GatewayLimits())
        #expect(configuration.trust == TrustChoices())
        #expect(configuration.roundTrip == 0)
    }
}

extension String {
    /// The text without a certain end.
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
