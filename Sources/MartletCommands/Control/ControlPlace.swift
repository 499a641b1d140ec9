import FoundationEssentials
import RabbitMQ
import WorkerSettings

/// Where commands to all workers go, and which routes there are.
struct ControlPlace {
    /// Where the broker is.
    var endpoints: [AMQPEndpoint]
    /// The names of the routes; nil where no configuration tells.
    var routes: [String]?

    /// Finds it.
    ///
    /// - Parameter options: The options. Without `--broker` a configuration that is named decides where the broker is,
    ///   with all that can be set by variables.
    /// - Throws: What is wrong with the configuration or the options.
    init(_ options: ControlOptions) throws(CommandFailure) {
        var source = ConfigurationOptions()
        source.config = options.config
        if options.config != nil || ConfigurationOptions.isConfigured(by: ProcessInfo.processInfo.environment) {
            let configuration = try source.load()
            routes = configuration.routes.map(\.name)
            // The login of workers may not publish commands: an operator's is given beside the configuration.
            endpoints =
                try options.broker.broker == nil
                ? configuration.brokerEndpoints() : options.broker.target.endpoints()
        } else {
            // Of a context, whose files an operator's machine need not have.
            if ContextStore.configuration != nil { routes = (try? source.load())?.routes.map(\.name) }
            endpoints = try options.broker.target.endpoints()
        }
    }
}
