import APNSSimulator
import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import PushModel
import ServiceLifecycle
import UnixSignals

/// `martlet simulator`: runs a local APNs for any provider.
struct SimulatorCommand: AsyncParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Run a local APNs: HTTP/2 over TLS, Apple's rules, verdicts on demand, a ledger of every push.",
        usage: """
            martlet simulator --key ABC1234567:DEF7654321:AuthKey_ABC1234567.p8
            martlet simulator --allow-any-key --scenario config/scenarios/everyday.yaml
            martlet simulator --accept-all --port 2197
            """,
        discussion: """
            Clients connect to https://localhost:PORT and trust the ca.pem that is printed. What was pushed is told at the \
            admin port: GET /ledger (?token=…, ?format=compact), GET /counts, GET /connections, POST /reset; GET / is a \
            page for people. What can be changed there while it runs: POST /clock {"advance":"55m"}, POST /keys/ID/revoke \
            and /restore, POST /certificates {"topics":["…"]}, POST /certificates/SERIAL/revoke and /restore, POST \
            /server-certificate {"kind":"expired"}, POST /scenario with a scenario file, POST and DELETE /shutdown.

            Providers with a certificate of `martlet simulator certificate` need no provider token.

            The first broken rule answers, in this order: provider token, method, path, repeated headers, \
            \(HeaderName.apnsID), \(HeaderName.expiration), \(HeaderName.priority), \(HeaderName.collapseID), \
            \(HeaderName.pushType), device token, \(HeaderName.topic), payload.

            The first digits of a device token choose a verdict, unless --no-token-prefixes is given:

            \(DeviceTokenPrefix.help)

            Clock, revocations, devices and what waits for them survive a restart; control.json in the state directory has \
            the clock and the revocations.

            Exit codes: 0 stopped by a signal, 65 bad scenario, 66 missing file or state directory in use, 69 port taken, \
            77 unusable credential, 78 bad option.
            """,
        subcommands: [SimulatorCertificateCommand.self])

    /// How addresses are printed.
    enum Output: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "The IP address to listen at.")
    var host = "127.0.0.1"

    @Option(help: "The port of the gateway; 0 for any free one.")
    var port = 2197

    @Option(help: "The port of the admin API, always on loopback; 0 for any free one.")
    var adminPort = 2198

    @Option(help: "The directory that keeps the certificate authority. (default: martlet/simulator in the state home)")
    var stateDirectory: String?

    @Option(help: "A name or address for the server certificate beside localhost, 127.0.0.1 and ::1. Repeatable.")
    var name: [String] = []

    @Option(
        help: ArgumentHelp(
            "A key whose provider tokens are good: a .p8 or a public key in PEM; with topics behind it, only those. Repeatable.",
            valueName: "keyid:teamid:file[:topic,…][:environment=…][:related=keyid]"))
    var key: [String] = []

    @Flag(help: "Without --key: accept any well-formed provider token.")
    var allowAnyKey = false

    @Option(help: "A scenario file (YAML) with verdicts.")
    var scenario: String?

    @Flag(help: "Answer every request 200 without a look: for benchmarks. Counts only, no ledger.")
    var acceptAll = false

    @Option(help: "Which of Apple's services to play: development or production.")
    var environment = ServiceEnvironment.development

    @Option(help: "Announce this many concurrent streams all the time. (default: 1 until a valid token, then 1000)")
    var streams: UInt32?

    @Flag(help: "Take payloads that are not JSON objects, too.")
    var anyPayload = false

    @Flag(help: "Ignore the first digits of device tokens.")
    var noTokenPrefixes = false

    @Option(help: "How many pushes the ledger lists; further ones are counted only.")
    var ledgerLimit = Ledger.defaultCapacity

    @Option(help: "How many threads serve connections.")
    var threads = 1

    @OptionGroup(title: "Devices and broadcast") var deviceOptions: DeviceOptions

    @Option(help: "Write ports and paths to this file as JSON once listening.")
    var portFile: String?

    @Option(help: "How to print the addresses: text or json.")
    var output = Output.text

    @OptionGroup(title: "What Apple leaves open")
    var rules: SimulatorRuleOptions

    /// Checks what the parser cannot.
    func validate() throws {
        guard (0...65_535).contains(port), (0...65_535).contains(adminPort) else {
            throw ValidationError("a port is a number from 0 to 65535")
        }
        guard threads >= 1, threads <= 64 else { throw ValidationError("--threads is a number from 1 to 64") }
        guard ledgerLimit >= 0 else { throw ValidationError("--ledger-limit is 0 or more") }
    }

    /// Serves until SIGTERM or SIGINT.
    func run() async throws {
        do {
            try ProcessSetup.prepare()
            let configuration = try simulatorConfiguration()
            if key.isEmpty, !allowAnyKey, !acceptAll {
                Self.say("no --key is given, so every provider token is refused; --allow-any-key accepts them all")
            }
            var logger = Logger(label: "martlet.simulator") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            let service = SimulatorService(configuration: configuration, announce: announce)
            let group = ServiceGroup(
                services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            try await group.run()
        } catch let error as SimulatorError {
            Self.say(error.message)
            throw ExitCode(Self.exitCode(of: error))
        }
    }

    private func simulatorConfiguration() throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration(stateDirectory: stateDirectory ?? Self.defaultStateDirectory)
        configuration.host = host
        configuration.port = port
        configuration.adminPort = adminPort
        configuration.serverNames = name
        configuration.keys = try key.map { try ProviderKey(argument: $0) }
        configuration.acceptsAnyKey = allowAnyKey
        if let scenario { configuration.scenario = try Scenario(file: scenario) }
        configuration.acceptsAll = acceptAll
        configuration.environment = environment
        if let streams { configuration.streams = .fixed(streams) }
        configuration.requiresJSONObject = !anyPayload
        configuration.usesTokenPrefixes = !noTokenPrefixes
        configuration.ledgerCapacity = ledgerLimit
        configuration.threads = threads
        deviceOptions.apply(to: &configuration)
        rules.apply(to: &configuration)
        return configuration
    }

    private func announce(_ simulator: RunningSimulator) throws {
        let ahead = simulator.control.clockAdvance / 1000
        if ahead > 0 {
            Self.say("the clock is \(ahead) s ahead, as it was left; without control.json it starts at the right time")
        }
        let address = simulator.host.contains(":") ? "[\(simulator.host)]" : simulator.host
        let gateway = "https://\(address):\(simulator.port)"
        let admin = simulator.adminPort.map { "http://127.0.0.1:\($0)" } ?? ""
        let json = JSON.object([
            ("gateway", .text(gateway)), ("port", .integer(Int64(simulator.port))), ("admin", .text(admin)),
            ("admin_port", .integer(Int64(simulator.adminPort ?? 0))),
            ("device_port", .integer(Int64(simulator.devicePort ?? 0))),
            ("management_port", .integer(Int64(simulator.managementPort ?? 0))),
            ("broadcast_port", .integer(Int64(simulator.broadcastPort ?? simulator.port))),
            ("ca_file", .text(simulator.authorityFile)),
        ])
        if let portFile {
            do {
                try Data(json.bytes + [UInt8(ascii: "\n")]).write(to: URL(filePath: portFile), options: .atomic)
            } catch {
                throw SimulatorError(.file, "cannot write \(portFile)")
            }
        }
        switch output {
        case .json: Console.data(json.bytes)
        case .text:
            Console.data("gateway             \(gateway)  (\(environment.rawValue))")
            Console.data("admin               \(admin)/counts")
            Console.data("page                \(admin)/")
            Console.data("devices             \(address):\(simulator.devicePort ?? 0)")
            Console.data("broadcast channels  https://\(address):\(simulator.managementPort ?? 0)")
            Console.data("trust               \(simulator.authorityFile)")
        }
        try Console.flush()
    }

    /// Where the simulator keeps its authorities unless told otherwise.
    static var defaultStateDirectory: String {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["XDG_STATE_HOME"] ?? environment["HOME"].map { "\($0)/.local/state" } ?? "/tmp"
        return "\(base)/martlet/simulator"
    }

    /// Prints a message on standard error.
    ///
    /// - Parameter message: One sentence.
    static func say(_ message: String) {
        let line = Array("martlet simulator: \(message)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The exit code for an error.
    ///
    /// - Parameter error: The error.
    /// - Returns: A code of sysexits.h.
    static func exitCode(of error: SimulatorError) -> Int32 {
        switch error.code {
        case .scenario: 65
        case .file: 66
        case .network: 69
        case .credential: 77
        case .configuration: 78
        default: 70
        }
    }
}

extension ServiceEnvironment: ExpressibleByArgument {}

/// The simulator as a service that ends with its group.
private struct SimulatorService: Service {
    let configuration: SimulatorConfiguration
    let announce: @Sendable (RunningSimulator) throws -> Void

    func run() async throws {
        let simulator = try await APNSSimulator.start(configuration)
        do {
            try announce(simulator)
            try await gracefulShutdown()
            await simulator.drain()
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }
}
