import ArgumentParser
import EventLoop
import PushModel
import WorkerSettings

/// `martlet dashboard`: shows the state of the whole fleet on a page for a browser on this machine.
struct DashboardCommand: AsyncParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Show the state of the whole fleet on a live page, for a browser on this machine.",
        discussion: """
            The page has the facts of martlet status, and draws them again every two seconds. It changes nothing. Only \
            this machine can reach it; for another one, forward the port with ssh -L. While nobody looks, the management \
            API is not asked.

            GET /status.json gives the facts as martlet status --output json does.

            Examples:
              martlet dashboard --config martlet.yaml
              martlet dashboard --broker amqps://user@broker.example --listen 127.0.0.1:9000
            """)

    @OptionGroup var place: StatusPlaceOptions
    @Option(
        help: ArgumentHelp("Where the page is, on this machine; port 0 for any free one.", valueName: "host:port"))
    var listen = "127.0.0.1:8088"

    var namedBroker: String? { place.broker.broker }
    var namedConfiguration: String? { place.source.config }

    func run() async throws {
        let address = try Self.address(listen)
        let source = try place.open()
        Interrupt.watch()
        // The first status must know the workers' reports. So the streams are read to their end before it is made.
        async let commands: Void = BlockingWork.run("commands") { source.control.readOnce() }
        try await BlockingWork.run("reports") { source.reader.readOnce() }
        try await commands
        // Following ends with Ctrl-C only, so it begins once nothing can fail any more.
        let server = try await DashboardServer.start(DashboardFeed(source), at: address)
        async let reading: Void = BlockingWork.run("reports") { source.reader.follow() }
        async let listening: Void = BlockingWork.run("commands") { source.control.follow() }
        Console.talk("dashboard: http://\(server.address)/ until Ctrl-C")
        while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
        await server.stop()
        try await reading
        try await listening
    }

    /// Where the page is to be.
    ///
    /// - Parameter text: `host:port`.
    /// - Throws: `usage` for something else, and for an address that other machines can reach.
    static func address(_ text: String) throws(CommandFailure) -> ListenAddress {
        do throws(Rejection) {
            let (host, port) = try AddressText.splitHost(text[...])
            guard let port else { throw Rejection("it names no port") }
            let address = ListenAddress(host: host, port: port)
            guard address.isLoopback else {
                throw Rejection("other machines can reach it, and the page asks nobody for a password")
            }
            return address
        } catch {
            throw CommandFailure(
                .usage, "--listen \(text.printable): \(error.message)",
                remedy: "Give an address such as 127.0.0.1:8088.")
        }
    }
}
