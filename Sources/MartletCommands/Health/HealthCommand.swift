import ArgumentParser
import EventLoop
import FoundationEssentials
import PushModel
import WorkerSettings

/// `martlet health`: asks a running worker whether it lives, or is ready. It is for service managers that run a
/// command, and for images without any other program.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a running worker whether it lives, or is ready.",
        discussion: """
            Asks /livez of the worker's admin server, or /readyz with --ready. Status 0: it does; 1: it does not, or does \
            not answer, and one line on standard error says what is wrong. Restart a worker that does not live. Do not \
            restart one only because it is not ready.

            Examples:
              martlet health
              martlet health --ready --address 127.0.0.1:9465
            """)

    @Flag(help: "Ask whether it is ready instead, and what it waits for.") var ready = false
    @Option(
        help: ArgumentHelp(
            "The worker's admin.listen. (default: MARTLET_ADMIN_LISTEN, else 127.0.0.1:9464)", valueName: "host:port"))
    var address: String?
    @Option(help: "How long the answer may take.") var timeout = TimeSpan(.seconds(5))

    func run() async throws {
        let place = try Self.place(address, environment: ProcessInfo.processInfo.environment)
        let (path, timeout) = (ready ? "/readyz" : "/livez", timeout.duration)
        let answer = try await BlockingWork.run("health") {
            try AdminQuestion(path: path, place: place).ask(within: timeout)
        }
        let verdict = HealthVerdict(answer, isAboutReadiness: ready)
        guard verdict.isGood else {
            throw CommandFailure(.someFailed, "the worker at \(place) \(verdict.words)")
        }
        Console.data(verdict.words)
    }

    /// Where to ask.
    ///
    /// - Parameters:
    ///   - address: The option `--address`; nil without it.
    ///   - environment: The process's variables. A worker, too, takes its address from `MARTLET_ADMIN_LISTEN` there.
    /// - Returns: An address to connect to. Where the worker listens on every address, this is loopback.
    /// - Throws: `usage` for an address that is not `host:port` with a port above 0.
    static func place(_ address: String?, environment: [String: String]) throws(CommandFailure) -> ListenAddress {
        let variable = environment["MARTLET_ADMIN_LISTEN"].flatMap { $0.isEmpty ? nil : $0 }
        let text = address ?? variable ?? "127.0.0.1:9464"
        let name = address == nil ? "MARTLET_ADMIN_LISTEN" : "--address"
        do throws(Rejection) {
            let (host, port) = try AddressText.splitHost(text[...])
            guard let port, port > 0 else { throw Rejection("it names no port to ask at") }
            let here = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
            return ListenAddress(host: here, port: port)
        } catch {
            throw CommandFailure(
                .usage, "\(name) \(text.printable): \(error.message)", remedy: "Give --address host:port.")
        }
    }
}
