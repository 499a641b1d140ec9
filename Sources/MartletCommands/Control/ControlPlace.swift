import FoundationEssentials
import RabbitMQ
import WorkerSettings

/// Where commands to all workers go, and which routes there are.
struct ControlPlace {
    /// Where the broker is.
    var endpoints: [AMQPEndpoint]
    /// The names of the routes; nil without a configuration.
    var routes: [String]?

    /// Finds the broker and the routes.
    ///
    /// - Parameter options: The options. Without `--broker`, a configuration in a named file or in variables decides
    ///   where the broker is.
    /// - Throws: What is wrong with the configuration or the options.
    init(_ options: ControlOptions) throws(CommandFailure) {
        var source = ConfigurationOptions()
        source.config = options.config
        if options.config != nil || ConfigurationOptions.isConfigured(by: ProcessInfo.processInfo.environment) {
            let configuration = try source.load(for: .broker)
            routes = configuration.routes.map(\.name)
            // The workers' login may not publish commands. So `--broker` can give an operator's login beside the
            // configuration.
            endpoints =
                try options.broker.broker == nil
                ? configuration.brokerEndpoints() : options.broker.target.endpoints()
        } else {
            // A context's configuration. It is optional here: an operator's machine need not have its files.
            if ContextStore.configuration != nil {
                routes = (try? source.load(for: .broker, connects: false))?.routes.map(\.name)
            }
            endpoints = try options.broker.target.endpoints()
        }
    }
}
