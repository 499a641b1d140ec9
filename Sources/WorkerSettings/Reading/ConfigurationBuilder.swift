import APNSClient
import Logging
import PushModel
import TLS
import Text
import Topology

/// Turns the tree of settings into values, section by section.
struct ConfigurationBuilder {
    /// The directory of the configuration file, against which its relative paths are read.
    let directory: String
    /// Where problems go.
    let problems: ConfigurationProblems
    /// The environment, for the settings that other programs share.
    let environment: [String: String]

    /// The longest anything may be told to wait.
    private static let day = Duration.seconds(86400)

    /// Reads everything; the result counts only while no problem was noted.
    func configuration(_ root: SettingReader, instanceName: () -> String) -> WorkerConfiguration {
        let credentials = credentials(root)
        let routes = routes(root, credentials: credentials)
        let instance = root.value(
            "instance", default: "",
            SettingParsers.name(0...100, "at most 100 letters, digits, \".\", \"_\" and \"-\"") {
                $0.isAlphanumeric
                    || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
            })
        return WorkerConfiguration(
            instance: instance.isEmpty ? instanceName() : instance,
            broker: broker(root.section("broker")),
            apns: apns(root.section("apns")),
            credentials: credentials.map(\.value),
            routes: routes,
            share: root.value("share", default: .all, RouteShare.init(parsing:)),
            lanes: root.value("lanes", default: .automatic, SettingParsers.automatic(1...256)),
            prefetch: root.value("prefetch", default: .automatic, SettingParsers.automatic(1...65535)),
            jobMemory: root.section("memory").value(
                "jobs", default: WorkerConfiguration.standardJobMemory,
                SettingParsers.size(WorkerConfiguration.jobMemoryRange)),
            retry: retry(root.section("retry")),
            results: results(root.section("results")),
            repliesAllow: replies(root.section("replies")),
            journal: directory("journal", of: root),
            adminListen: admin(root.section("admin")),
            adminTokenFile: adminToken(root.section("admin")),
            metricsDetail: root.section("metrics").value("detail", default: false, SettingParsers.boolean),
            log: log(root.section("log")),
            shutdownGrace: root.section("shutdown").value(
                "grace", default: .seconds(45), SettingParsers.duration(.seconds(1)...(.seconds(3600)))))
    }

    private func apns(_ section: SettingReader) -> APNSConfiguration {
        let production = section.value("production", default: AppleHosts.production, SettingParsers.apnsAddress)
        let development = section.value("development", default: AppleHosts.development, SettingParsers.apnsAddress)
        return APNSConfiguration(
            production: production, development: development,
            trustFile: trustFile(section),
            requestTimeout: section.value(
                "request_timeout", default: .seconds(30),
                SettingParsers.duration(.milliseconds(100)...(.seconds(600)))),
            pingInterval: section.value(
                "ping_interval", default: .seconds(3_600), SettingParsers.duration(.seconds(1)...Self.day)),
            idle: section.value(
                "idle", default: APNSConfiguration.standardIdle,
                SettingParsers.duration(.seconds(10)...Self.day)),
            connectRate: section.value(
                "connect_rate", default: ConnectRateLimiter.defaultRate,
                SettingParsers.number(0.1...Double(ConnectRateLimiter.processRate), "connects per second")),
            connectBurst: section.value(
                "connect_burst", default: ConnectRateLimiter.defaultBurst,
                SettingParsers.integer(1...ConnectRateLimiter.processBurst)),
            proxy: proxy(section),
            broadcast: addresses(
                section.section("broadcast"), defaults: APNSAddresses(production: production, development: development)),
            channels: addresses(
                section.section("channels"),
                defaults: AppleHosts.channels(production: production, development: development)))
    }

    /// The file with further authorities, which must hold some already.
    private func trustFile(_ section: SettingReader) -> String? {
        guard let path = file("trust_file", of: section) else { return nil }
        do throws(TLSError) {
            _ = try TLSContext.client(
                trust: TrustRoots(systemRoots: false, files: [path]), identity: nil, applicationProtocols: ["h2"])
            return path
        } catch {
            section.reject(section.origin(of: "trust_file"), "\(section.name(of: "trust_file")): \(error.message)")
            return nil
        }
    }

    /// The configured proxy, else that of the environment, with its exceptions (curl's manual, "Environment").
    private func proxy(_ section: SettingReader) -> ProxyConfiguration? {
        if section.present("proxy") != nil {
            return section.optional("proxy", SettingParsers.proxyAddress).map {
                ProxyConfiguration(address: $0.value, exceptions: nil)
            }
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
                address: try SettingParsers.proxyAddress(shared.value),
                exceptions: text(["NO_PROXY", "no_proxy"])?.value ?? "")
        } catch {
            problems.add(.environment(shared.name), error.message)
            return nil
        }
    }

    private func retry(_ section: SettingReader) -> RetryConfiguration {
        let range = Duration.milliseconds(1)...Self.day
        let written = section.list("tiers", SettingParsers.duration(range))
        if let written, written.isEmpty, case .list(let entries)? = section.present("tiers")?.content, entries.isEmpty {
            section.reject(section.origin(of: "tiers"), "\(section.name(of: "tiers")): at least one tier is needed")
        }
        for (earlier, later) in zip(written ?? [], (written ?? []).dropFirst()) where later.value <= earlier.value {
            section.reject(
                later.origin,
                "\(section.name(of: "tiers")): \(DurationText.write(later.value)) must be longer than the tier "
                    + "before it"
            )
        }
        return RetryConfiguration(
            tiers: written?.map(\.value) ?? [2, 15, 60, 300, 1800].map { .seconds($0) },
            maxAttempts: section.value("max_attempts", default: 6, SettingParsers.integer(1...100)),
            maxAge: section.value(
                "max_age", default: .seconds(6 * 3600), SettingParsers.duration(.seconds(1)...(.seconds(30 * 86400)))))
    }

    private func results(_ section: SettingReader) -> ResultConfiguration {
        let batch = section.value("batch", default: 1) { (text: String) throws(Rejection) -> Int in
            let value = try SettingParsers.integer(1...1000)(text)
            guard value == 1 else { throw Rejection("\(value) is not supported yet: results go out one per message") }
            return value
        }
        return ResultConfiguration(
            batch: batch,
            deviceToken: section.value(
                "device_token", default: .full, SettingParsers.choice(ResultConfiguration.DeviceToken.self)),
            queues: section.value(
                "queues", default: 1, SettingParsers.integer(1...TopologyNames.resultsSlots)))
    }

    private func replies(_ section: SettingReader) -> String {
        section.value("allow", default: "^apns\\.q\\.reply\\..+$") { (text: String) throws(Rejection) -> String in
            do {
                _ = try ReplyPattern(SettingParsers.text(text))
                return text
            } catch let failure as ReplyPattern.Failure {
                throw Rejection(failure.message)
            } catch let rejection as Rejection {
                throw rejection
            } catch {
                throw Rejection("not a regular expression")
            }
        }
    }

    private func log(_ section: SettingReader) -> LogConfiguration {
        LogConfiguration(
            level: section.value("level", default: .info, SettingParsers.choice(Logger.Level.self)),
            format: section.value("format", default: .automatic, SettingParsers.choice(LogFormat.self)))
    }

    /// Reads the path of a file that must be readable; nil when absent or refused.
    ///
    /// - Parameter credential: The name of the credential that it belongs to, whose routes alone need it.
    func file(_ key: String, of section: SettingReader, credential: String? = nil) -> String? {
        guard let setting = section.optional(key, SettingParsers.text) else { return nil }
        return readablePath(setting, name: section.name(of: key), credential: credential)
    }

    /// Reads the path of a directory to write to; it need not be there yet, but what is above it must be.
    private func directory(_ key: String, of section: SettingReader) -> String? {
        guard let setting = section.optional(key, SettingParsers.text) else { return nil }
        guard setting.value.utf8.count < 4_000, !setting.value.utf8.contains(UInt8(ascii: "\n")) else {
            problems.add(setting.origin, "\(section.name(of: key)): this is not the path of a directory")
            return nil
        }
        let base = if case .file = setting.origin { directory } else { "" }
        let path = TextFile.resolve(setting.value, against: base)
        guard let problem = TextFile.directoryProblem(at: path) else { return path }
        problems.add(setting.origin, "\(section.name(of: key)): \(problem)")
        return nil
    }

    /// Resolves a path against the file's directory (against the working directory when the environment gave it), and
    /// notes when nothing can be read there.
    ///
    /// - Parameters:
    ///   - setting: The path as it is written.
    ///   - name: The setting's name.
    ///   - credential: The name of the credential that the file belongs to; its path counts though it cannot be read.
    func readablePath(
        _ setting: SettingReader.Setting<String>, name: String, credential: String? = nil
    ) -> String? {
        guard !setting.value.contains("-----BEGIN"), !setting.value.contains("\n"), setting.value.utf8.count < 4096
        else {
            problems.add(setting.origin, "\(name): this is not a path but the content of a file: give the path")
            return nil
        }
        let base = if case .file = setting.origin { directory } else { "" }
        let path = TextFile.resolve(setting.value, against: base)
        if let problem = TextFile.problem(at: path) {
            // What stands there by mistake may be the password itself.
            let place = name.hasSuffix("password_file") ? "this file" : path
            let message = "\(name): cannot read \(place): \(problem)"
            guard let credential else {
                problems.add(setting.origin, message)
                return nil
            }
            problems.add(setting.origin, message, credential: credential)
        }
        return path
    }
}
