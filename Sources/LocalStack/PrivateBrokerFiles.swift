/// The files and the environment that make a RabbitMQ node private. Its configuration, data, logs and cookie are in its
/// own directory; certificates are where the options say.
enum PrivateBrokerFiles {
    /// Writes the configuration files.
    ///
    /// - Parameters:
    ///   - directory: The broker's own directory.
    ///   - ports: The ports that the broker shall use.
    ///   - options: What it was asked for.
    static func write(
        to directory: TemporaryDirectory, ports: PrivateBroker.Ports, options: PrivateBrokerOptions
    ) throws(LocalStackError) {
        // Empty, but named in the environment: otherwise /etc/rabbitmq/rabbitmq-env.conf would be read.
        try directory.write("", to: "rabbitmq-env.conf")
        try directory.write(configuration(ports: ports, options: options), to: "rabbitmq.conf")
        // This tick refreshes the counters of quorum queues. The default of 5 s is too slow for a live view.
        try directory.write("[{rabbit, [{quorum_tick_interval, 500}]}].\n", to: "advanced.config")
        var plugins: [String] = []
        if options.management { plugins.append("rabbitmq_management") }
        if options.tls?.external == true { plugins.append("rabbitmq_auth_mechanism_ssl") }
        try directory.write("[\(plugins.joined(separator: ","))].\n", to: "enabled_plugins")
    }

    /// The text of `rabbitmq.conf`.
    static func configuration(ports: PrivateBroker.Ports, options: PrivateBrokerOptions) -> String {
        var lines = [
            "listeners.tcp.local = 127.0.0.1:\(ports.amqp)",
            "log.console = true",
            "log.console.level = info",
            "log.file = false",
            // 64 MiB. RabbitMQ keeps its default of 512 MiB in memory, which is too much for a stack on one machine.
            "raft.wal_max_size_bytes = 67108864",
            // The demo shall also run on a laptop whose disk is nearly full.
            "disk_free_limit.absolute = 50MB",
        ]
        if options.management {
            lines += ["management.tcp.ip = 127.0.0.1", "management.tcp.port = \(ports.management)"]
        }
        if let tls = options.tls {
            lines += [
                "listeners.ssl.local = 127.0.0.1:\(ports.amqps)",
                "ssl_options.cacertfile = \(tls.authorityFile)",
                "ssl_options.certfile = \(tls.certificateFile)",
                "ssl_options.keyfile = \(tls.keyFile)",
                "ssl_options.verify = verify_peer",
                "ssl_options.fail_if_no_peer_cert = \(tls.external)",
            ]
            if tls.external {
                lines += [
                    "auth_mechanisms.1 = PLAIN", "auth_mechanisms.2 = EXTERNAL", "ssl_cert_login_from = common_name",
                ]
            }
        }
        return (lines + PrivateBroker.configuration + options.configuration).joined(separator: "\n") + "\n"
    }

    /// The whole environment of the broker and of its command-line tools.
    ///
    /// - Parameters:
    ///   - directory: The broker's own directory; as `HOME` it also holds the Erlang cookie.
    ///   - ports: The ports it uses.
    ///   - nodeName: The name of its Erlang node.
    /// - Returns: Variables by name.
    /// - SeeAlso: <https://www.rabbitmq.com/docs/configure#supported-environment-variables>
    static func environment(
        directory: TemporaryDirectory, ports: PrivateBroker.Ports, nodeName: String
    ) -> [String: String] {
        let loopback = "-kernel inet_dist_use_interface {127,0,0,1}"
        return [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": directory.path,
            "TMPDIR": directory.path,
            "RABBITMQ_CONF_ENV_FILE": directory.file("rabbitmq-env.conf"),
            "RABBITMQ_CONFIG_FILE": directory.file("rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": directory.file("advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": directory.file("enabled_plugins"),
            "RABBITMQ_NODENAME": nodeName,
            "RABBITMQ_MNESIA_BASE": directory.file("data"),
            "RABBITMQ_LOG_BASE": directory.file("log"),
            "RABBITMQ_DIST_PORT": "\(ports.distribution)",
            // The broker has a port mapper of its own on another port. The machine's port mapper is neither used nor
            // started.
            "ERL_EPMD_PORT": "\(ports.portMapper)",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            // With this the script becomes the Erlang machine, so that the process id is the broker's own.
            "RABBITMQ_ALLOW_INPUT": "1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput -start_epmd false \(loopback)",
            // One scheduler starts faster and is enough for a command.
            "RABBITMQ_CTL_ERL_ARGS": "+S 1:1 \(loopback)",
            "RABBITMQ_CTL_DIST_PORT_MIN": "33000",
            "RABBITMQ_CTL_DIST_PORT_MAX": "33999",
        ]
    }
}
