import ArgumentParser
import FoundationEssentials
import WorkerSettings

/// The options that say where a status comes from: the broker with its streams, and its management API.
struct StatusPlaceOptions: ParsableArguments {
    @OptionGroup var source: ConfigurationOptions
    @Option(
        help: ArgumentHelp(
            """
            RabbitMQ's management API, with user and password. The broker's user needs no password here, where \
            other users of this machine could see it. (default: MARTLET_BROKER_MANAGEMENT beside MARTLET_BROKER_URI, \
            or the configuration's, else the broker's host and login with port 15672, 15671 with TLS)
            """, valueName: "uri"))
    var management: String?
    @OptionGroup(title: "Broker, without --config") var broker: BrokerOptions

    func validate() throws {
        if source.config != nil, broker.broker != nil {
            throw ValidationError("--broker is for use without --config, which names a broker.")
        }
    }

    /// The place: from the configuration if there is one, else from the options about the broker.
    ///
    /// - Throws: What is wrong with the configuration or the options.
    func open() throws(CommandFailure) -> StatusSource {
        let isConfigured =
            source.config != nil
            || broker.broker == nil && ConfigurationOptions.isConfigured(by: ProcessInfo.processInfo.environment)
        guard isConfigured else {
            let endpoints = try broker.target.endpoints()
            return StatusSource(
                endpoints: endpoints, client: try broker.target.managementClient(management, beside: endpoints),
                configuration: nil)
        }
        let configuration = try source.load(for: .broker)
        return StatusSource(
            endpoints: try configuration.brokerEndpoints(), client: try configuration.managementClient(management),
            configuration: source.config, topology: try configuration.topology())
    }
}
