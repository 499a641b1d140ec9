import PushModel
import TLS
import Text

/// Turns the tree of settings into values, section by section.
struct ConfigurationBuilder {
    /// A credential and what its certificate says, for the checks that compare entries.
    struct KnownCredential {
        /// The credential.
        let value: CredentialConfiguration
        /// What its certificate says; nil for a key, and for a certificate that cannot be read.
        var facts: CertificateFacts?
    }

    /// The directory of the configuration file. Relative paths in the file start there.
    let directory: String
    /// Where problems go.
    let problems: ConfigurationProblems
    /// The environment, for the settings that other programs share, such as `HTTPS_PROXY`.
    let environment: [String: String]

    /// The keys that are read.
    let keys = WorkerKeys.all

    /// Reads everything. The noted problems decide whether the caller may use the result.
    func configuration(_ root: SettingReader, instanceName: () -> String) -> WorkerConfiguration {
        let credentials = credentials(root)
        let routes = routes(root, credentials: credentials)
        let instance = root.value(keys.instance)
        refuseLanes(keys.lanes, of: root)
        return WorkerConfiguration(
            instance: instance.isEmpty ? instanceName() : instance,
            broker: broker(root),
            apns: apns(root),
            credentials: credentials.map(\.value),
            routes: routes,
            share: root.value(keys.share),
            prefetch: root.value(keys.prefetch),
            jobMemory: root.value(keys.jobMemory),
            retry: retry(root),
            results: ResultConfiguration(
                batch: root.value(keys.results.batch), deviceToken: root.value(keys.results.deviceToken),
                queues: root.value(keys.results.queues)),
            jobsFrom: (root.value(keys.jobsFrom) ?? []).map(\.value),
            repliesAllow: root.value(keys.repliesAllow),
            journal: journal(root),
            adminListen: adminListen(root),
            adminTokenFile: adminToken(root),
            metricsDetail: root.value(keys.metricsDetail),
            tracing: TracingConfiguration(
                endpoint: root.value(keys.tracingEndpoint), serviceName: root.value(keys.tracingServiceName)),
            log: LogConfiguration(level: root.value(keys.logLevel), format: root.value(keys.logFormat)),
            shutdownGrace: root.value(keys.shutdownGrace), warnings: problems.warnings)
    }

    /// A worker has one lane. Who asks for that only has a line too many; who asks for more needs more workers.
    func refuseLanes(_ key: SettingKey<AutomaticOr<Int>>, of reader: SettingReader) {
        guard reader.isPresent(key) else { return }
        switch reader.value(key) {
        case .automatic, .fixed(1): reader.warn(key, "has no effect, because a worker has one lane: delete it")
        case .fixed(let count):
            reader.reject(
                key,
                "a worker has one lane: run \(count) workers, divide rate, connections and memory.jobs by \(count), and "
                    + "delete this setting")
        }
    }

    private func apns(_ root: SettingReader) -> APNSConfiguration {
        let keys = keys.apns
        let (production, development) = (root.value(keys.production), root.value(keys.development))
        let broadcastChannels = AppleHosts.broadcastChannels(production: production, development: development)
        return APNSConfiguration(
            production: production, development: development,
            trustFile: trustFile(root),
            requestTimeout: root.value(keys.requestTimeout),
            pingInterval: root.value(keys.pingInterval),
            idle: root.value(keys.idle),
            connectRate: root.value(keys.connectRate),
            connectBurst: root.value(keys.connectBurst),
            proxy: proxy(root),
            broadcast: APNSAddresses(
                production: root.value(keys.broadcastProduction) ?? production,
                development: root.value(keys.broadcastDevelopment) ?? development),
            broadcastChannels: APNSAddresses(
                production: root.value(keys.broadcastChannelsProduction) ?? broadcastChannels.production,
                development: root.value(keys.broadcastChannelsDevelopment) ?? broadcastChannels.development))
    }

    /// The file with further authorities. It must hold at least one already.
    private func trustFile(_ root: SettingReader) -> String? {
        guard let path = file(keys.apns.trustFile, of: root) else { return nil }
        do throws(TLSError) {
            _ = try TLSContext.client(
                trust: TrustRoots(systemRoots: false, files: [path]), identity: nil, applicationProtocols: ["h2"])
            return path
        } catch {
            root.reject(keys.apns.trustFile, error.message)
            return nil
        }
    }

    /// The configured proxy, else that of the environment, with its exceptions (curl's manual, "Environment").
    private func proxy(_ root: SettingReader) -> ProxyConfiguration? {
        if root.isPresent(keys.apns.proxy) {
            return root.value(keys.apns.proxy).map { ProxyConfiguration(address: $0, exceptions: nil) }
        }
        func text(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                if let value = environment[name], !value.isEmpty { return (name, value) }
            }
            return nil
        }
        guard let shared = text(["HTTPS_PROXY", "https_proxy"]) else { return nil }
        do throws(Rejection) {
            return ProxyConfiguration(
                address: try SettingKind.proxy(shared.value),
                exceptions: text(["NO_PROXY", "no_proxy"])?.value ?? "")
        } catch {
            problems.add(.environment(shared.name), error.message)
            return nil
        }
    }

    private func retry(_ root: SettingReader) -> RetryConfiguration {
        RetryConfiguration(
            tiers: tiers(root, keys.retry.tiers), holdingTiers: tiers(root, keys.retry.holdingTiers),
            holdingLimit: root.value(keys.retry.holdingLimit), maxAttempts: root.value(keys.retry.maxAttempts),
            maxAge: root.value(keys.retry.maxAge))
    }

    private func tiers(_ root: SettingReader, _ key: SettingKey<[Setting<Duration>]>) -> [Duration] {
        let tiers = root.value(key)
        for (earlier, later) in zip(tiers, tiers.dropFirst()) where later.value <= earlier.value {
            let tier = DurationText.write(later.value)
            root.reject(key, "\(tier) must be longer than the tier before it", at: later.origin)
        }
        return tiers.map(\.value)
    }

    /// Reads the path of the journal's directory. The directory may be missing, but its parent must exist.
    private func journal(_ root: SettingReader) -> String? {
        guard let written = root.value(keys.journal) else { return nil }
        guard written.utf8.count < 4_000, !written.utf8.contains(UInt8(ascii: "\n")) else {
            root.reject(keys.journal, "this is not the path of a directory")
            return nil
        }
        let path = resolve(written, from: root.origin(of: keys.journal))
        guard let problem = TextFile.directoryProblem(at: path) else { return path }
        root.reject(keys.journal, problem)
        return nil
    }

    /// Reads the path of a file, and notes when nothing can be read there.
    ///
    /// - Parameters:
    ///   - key: The setting.
    ///   - reader: Reads it.
    ///   - credential: The name of the credential that the file belongs to; nil for none. Only the routes of this
    ///     credential need the file, so its path is returned even if the file cannot be read.
    /// - Returns: The path; nil if the key is absent or the path was refused.
    func file(_ key: SettingKey<String?>, of reader: SettingReader, credential: String? = nil) -> String? {
        guard let written = reader.value(key) else { return nil }
        guard !written.contains("-----BEGIN"), !written.contains("\n"), written.utf8.count < 4096 else {
            reader.reject(key, "this is not a path but the content of a file: give the path")
            return nil
        }
        let origin = reader.origin(of: key)
        let path = resolve(written, from: origin)
        guard let problem = TextFile.problem(at: path) else { return path }
        // By mistake, the path may be the password itself.
        let place = key.facts.name == "password_file" ? "this file" : path
        let message = "\(reader.name(of: key)): cannot read \(place): \(problem)"
        guard let credential else {
            problems.add(origin, message)
            return nil
        }
        problems.add(origin, message, credential: credential)
        return path
    }

    /// A full path: relative to the configuration file's directory, or to the working directory if the environment gave
    /// it.
    private func resolve(_ path: String, from origin: ConfigurationOrigin) -> String {
        if case .file = origin { TextFile.resolve(path, against: directory) } else { path }
    }
}
