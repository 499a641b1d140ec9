import APNSSimulator
import ArgumentParser
import EventLoop
import FoundationEssentials
import Glibc
import UnixSignals

/// `martlet device`: a device for the local APNs.
struct DeviceCommandLine: AsyncParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Be a device of the local APNs: activate, register apps, print their tokens, show what arrives.",
        usage: """
            martlet device --app com.example.app
            martlet device --state ~/phone --simulator localhost:5223 --ca ca.pem --app com.example.app --kind voip
            """,
        discussion: """
            The device keeps its certificate in its state directory and is the same device at every start. On a terminal \
            it draws a screen; elsewhere, and with --output json, it prints one JSON object per line: activated, online, \
            offline, token, notification, done, trouble.

            Lines on standard input tell it what to do; APP is the first --app where it is left out:

            \(DeviceCommand.help)

            Exit codes: 0 told to quit or stopped by a signal, 66 missing file, 69 no event loop, 78 bad option.
            """)

    @Option(help: "The directory that keeps the device's certificate. (default: martlet/device in the state home)")
    var state: String?

    @Option(help: "The simulator's device port, as host:port.")
    var simulator = "localhost:5223"

    @Option(
        name: .customLong("ca"),
        help: "The simulator's ca.pem. (default: that of the simulator's usual state directory)")
    var authority: String?

    @Option(help: "A bundle identifier the device has an app of. Repeatable.")
    var app: [String] = []

    @Option(help: "Whose token to ask for: a push type such as voip or liveactivity. (default: the app's own)")
    var kind: String?

    @Option(help: "development or production. (default: the one the simulator plays)")
    var environment: ServiceEnvironment?

    @Option(help: "What the device is called on the simulator's page.")
    var name = "device"

    @Option(
        help: ArgumentHelp(
            "Hand device tokens to this provider, by POST of JSON with token, topic and environment.", valueName: "url")
    )
    var provider: String?

    @Flag(help: "Save power from the start.")
    var lowPower = false

    @Flag(help: "Stay offline until told otherwise.")
    var offline = false

    @OptionGroup var output: OutputOptions

    /// Checks what the parser cannot.
    func validate() throws {
        guard !app.isEmpty else { throw ValidationError("--app is needed: the bundle identifier of an app") }
        guard provider.map({ DeviceRegistration.address($0) != nil }) ?? true else {
            throw ValidationError("--provider is an http or https URL, such as http://localhost:8080/devices")
        }
        guard Self.endpoint(simulator) != nil else { throw ValidationError("--simulator is written host:port") }
    }

    /// Lives until it is told to quit, a signal comes, or standard output takes nothing any more.
    func run() async throws {
        let configuration = try deviceConfiguration()
        let screen = DeviceScreen(
            name: name, isDrawn: output.output == .text && Console.isTerminal(STDOUT_FILENO))
        let first = app[0]
        let registration = provider.flatMap(DeviceRegistration.address).map(DeviceRegistration.init)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        do {
            try await BlockingWork.run("device") {
                let client = try DeviceClient(configuration) { event in
                    screen.show(event)
                    guard case .token(_, let topic, let environment, let token) = event else { return }
                    registration?.send(
                        DeviceRegistration.Message(token: token, topic: topic, environment: environment)
                    ) { screen.show($0) }
                }
                let mailbox = client.mailbox
                screen.whenLost { mailbox.post(.quit) }
                let watching = Task {
                    for await _ in signals { mailbox.post(.quit) }
                }
                // Reading blocks, and its thread may stay behind when the process ends.
                _ = try LoopThread.start(name: "device-input") { Self.read(into: mailbox, app: first, screen) }
                try client.run()
                watching.cancel()
            }
        } catch let error as SimulatorError {
            throw CommandFailure(error.code == .file ? .missingInput : .unreachable, error.message)
        }
    }

    private func deviceConfiguration() throws -> DeviceClientConfiguration {
        let home = StateHome.path
        let file = authority ?? "\(home)/martlet/simulator/ca.pem"
        guard let pem = FileManager.default.contents(atPath: file) else {
            throw CommandFailure(
                .missingInput, "cannot read the simulator's authority \(file)",
                remedy: "Start martlet simulator, or name its ca.pem with --ca.")
        }
        guard let (host, port) = Self.endpoint(simulator) else {
            throw CommandFailure(.configuration, "--simulator is written host:port")
        }
        var configuration = DeviceClientConfiguration(
            stateDirectory: state ?? "\(home)/martlet/device", host: host, port: port, authorityPEM: [UInt8](pem))
        configuration.name = name
        configuration.apps = app.map { DeviceClientConfiguration.App($0, kind: kind) }
        configuration.environment = environment?.rawValue
        configuration.power = lowPower ? .low : .normal
        configuration.startsOffline = offline
        return configuration
    }

    /// Takes host and port apart.
    ///
    /// - Parameter text: `host:port`, an IPv6 address in brackets.
    /// - Returns: Nil for anything else.
    static func endpoint(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon > text.startIndex
        else { return nil }
        let host = text[..<colon]
        return (String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host), port)
    }

    private static func read(into mailbox: Mailbox<DeviceCommand>, app: String, _ screen: DeviceScreen) {
        guard let lines = try? LineReader(path: "-") else { return }
        while let bytes = try? lines.next() {
            let line = String(decoding: bytes, as: UTF8.self)
            if line.allSatisfy(\.isWhitespace) { continue }
            if let command = DeviceCommand(line: line, app: app) {
                mailbox.post(command)
            } else {
                screen.show(.trouble("not understood; try one of:\n\(DeviceCommand.help)"))
            }
        }
    }
}
