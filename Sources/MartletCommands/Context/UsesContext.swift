/// A command that works with the broker of the selected context, unless options, variables or a configuration file name
/// another broker.
protocol UsesContext {
    /// The broker that the command line names; nil for none, and for commands that have no `--broker`.
    var namedBroker: String? { get }
    /// The configuration file that the command line names and that may say where the broker is; nil for none.
    var namedConfiguration: String? { get }
}

extension UsesContext {
    /// Most commands take no configuration file.
    var namedConfiguration: String? { nil }
}
