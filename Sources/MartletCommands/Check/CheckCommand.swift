import APNSClient
import ArgumentParser
import BrokerClient
import EventLoop
import FoundationEssentials
import PushModel
import PushWorker
import RabbitMQ
import TLS
import Text
import Topology
import WorkerSettings

/// `martlet check`: tests the configuration, and each thing that a worker with it needs.
struct CheckCommand: AsyncParsableCommand, UsesContext {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Test configuration, credentials, broker and APNs one after another, and say how to mend what fails.",
        discussion: """
            Nothing is published and nothing is pushed. The exit status is that of the first step that failed.

            Examples:
              martlet check --config worker.yaml
              martlet check --config worker.yaml --offline
            """)

    @OptionGroup var source: ConfigurationOptions
    @Flag(help: "Test configuration and credentials only.") var offline = false
    @Option(help: "How long each connection may take.") var timeout = TimeSpan(.seconds(10))
    @OptionGroup var format: OutputOptions

    /// As many channels as a URI can ask for.
    private static let mostChannels = 2_047

    var namedBroker: String? { nil }
    var namedConfiguration: String? { source.config }

    func run() async throws {
        // The parser of YAML recurses, up to 1,000 levels deep.
        var (report, configuration) = try await BlockingWork.run("check", stackSize: 8 << 20) { steps() }
        if !offline, let configuration { await checkTiers(configuration, &report) }
        report.print(format.output)
        if report.status != .ok { throw report.status }
    }

    /// Takes the steps that block.
    ///
    /// - Returns: The report of these steps, and the configuration; nil where it cannot be read.
    private func steps() -> (report: CheckReport, configuration: WorkerConfiguration?) {
        var report = CheckReport()
        do throws(CommandFailure) {
            let configuration: WorkerConfiguration
            switch try source.read(for: .route) {
            case .success(let loaded): configuration = loaded
            case .failure(let errors):
                for error in errors.all { report.fail("configuration", "\(error)", remedy: nil, .configuration) }
                return (report.skippingTheRest, nil)
            }
            let routes = configuration.routes.count
            report.good("configuration", "\(routes) \(routes == 1 ? "route" : "routes")")
            for warning in configuration.warnings {
                report.warn("configuration", "\(warning)", remedy: "Delete it.")
            }
            checkCredentials(configuration, &report)
            checkRoots(configuration, &report)
            checkPassword(configuration, &report)
            if !offline {
                checkBroker(configuration, &report)
                checkAPNS(configuration, &report)
            }
            return (report, configuration)
        } catch {
            report.fail("configuration", error.message, remedy: error.remedy, error.status)
            return (report.skippingTheRest, nil)
        }
    }

    /// Looks for tiers that never give their copies back. This needs the management API, because AMQP does not show
    /// policies. Without `broker.management` the step is left out.
    private func checkTiers(_ configuration: WorkerConfiguration, _ report: inout CheckReport) async {
        guard configuration.broker.management != nil, let topology = try? configuration.topology() else { return }
        do throws(CommandFailure) {
            let client = try configuration.managementClient()
            let rows = topology.compared(with: try await client.picture(of: topology.virtualHost)).keepingTierDrift
            if rows.isEmpty { report.good("tiers", "what waits in a tier comes back") }
            let admin = AdminCommands(client.location, virtualHost: topology.virtualHost)
            for row in rows {
                report.fail(
                    row.object, row.detail, remedy: row.commands(admin).joined(separator: "  or  "), .someFailed)
            }
        } catch {
            report.warn("tiers", error.message, remedy: error.remedy)
        }
    }

    /// Loads every credential: signs with each key, and reads each certificate. Warns of a credential without a route.
    private func checkCredentials(_ configuration: WorkerConfiguration, _ report: inout CheckReport) {
        for credential in configuration.credentials {
            let name = "credential \(credential.name)"
            switch credential {
            case .token(let token):
                do throws(TLSError) {
                    let key = try ES256PrivateKey(file: token.keyFile)
                    _ = try key.sign(Array("martlet".utf8).span)
                    report.good(name, "key \(token.keyID) of team \(token.teamID) signs")
                    if let mismatch = AppleKeyFile.mismatch(token.keyFile, keyID: token.keyID) {
                        report.warn(
                            name, mismatch,
                            remedy: "Correct key_id or key_file: APNs refuses a key under another key_id.")
                    }
                } catch {
                    let isUnread = error.code == .fileUnreadable
                    report.fail(
                        name, error.message,
                        remedy: isUnread
                            ? "Check path and permissions."
                            : "Use the .p8 file as downloaded from Apple's developer portal.", .configuration)
                }
            case .certificate(let certificate):
                check(certificate, name, configuration.routes.filter { $0.credential == credential.name }, &report)
            }
            if !configuration.routes.contains(where: { $0.credential == credential.name }) {
                report.warn(name, "no route uses it")
            }
        }
    }

    /// Reads a certificate with its key. Says how long it lasts, and which routes cannot use it.
    private func check(
        _ certificate: CertificateCredentialConfiguration, _ name: String, _ routes: [RouteConfiguration],
        _ report: inout CheckReport
    ) {
        do throws(TLSError) {
            let facts = try certificate.identity().facts()
            for route in routes {
                let reason = facts.mismatch(
                    topics: route.topics, environment: route.environment, omitsTopic: route.omitTopic)
                guard let reason else { continue }
                report.fail(
                    "route \(route.name)", "the certificate of \(name) \(reason)",
                    remedy: "Replace the files, or name another credential; until then workers park this route alone.",
                    .configuration)
            }
            let left = facts.notAfter - WallClock.milliseconds() / 1_000
            let topics = facts.topics.map(\.name).joined(separator: ", ")
            let detail = "certificate \(facts.serialNumber) for \(topics), valid until \(facts.lastMoment)"
            let remedy = "Renew it in Apple's developer portal and replace the file; the worker needs no restart."
            if left <= 0 {
                report.fail(name, "\(detail): expired", remedy: remedy, .configuration)
            } else if facts.notBefore > WallClock.milliseconds() / 1_000 {
                report.fail(
                    name, "\(detail): not valid before \(facts.firstMoment)",
                    remedy: "Look at this machine's clock, or wait.",
                    .configuration)
            } else if left <= 30 * 86_400 {
                report.warn(name, "\(detail): \(left / 86_400) days left", remedy: remedy)
            } else {
                report.good(name, detail)
            }
        } catch {
            report.fail(
                name, error.message, remedy: "Export the certificate with its key again, or correct the password file.",
                .configuration)
        }
    }

    /// Looks for a blank at the end of the broker's password, which nobody sees in a file.
    private func checkPassword(_ configuration: WorkerConfiguration, _ report: inout CheckReport) {
        let passwords = ((try? configuration.broker.endpoints()) ?? []).map { Array($0.password.utf8) }
        guard let hint = passwords.lazy.compactMap({ TrailingBlank.hint($0) }).first else { return }
        let place = configuration.broker.passwordFile == nil ? "broker.uri" : "broker.password_file"
        report.warn("password of \(place)", hint, remedy: "If not, take it away: only line ends are dropped.")
    }

    /// Logs in at every broker and looks for the queues of every route.
    private func checkBroker(_ configuration: WorkerConfiguration, _ report: inout CheckReport) {
        let endpoints: [AMQPEndpoint]
        do throws(AMQPError) {
            endpoints = try configuration.broker.endpoints()
        } catch {
            return report.fail("broker", error.message, remedy: nil, .configuration)
        }
        for var endpoint in endpoints {
            // Each missing queue costs a channel. Workers ask for as many channels as they need, too.
            endpoint.channelMax = max(endpoint.channelMax, Self.mostChannels)
            do throws(CommandFailure) {
                let link = try CommandConnection.open([endpoint], timeout: timeout.duration, isCheck: true)
                defer { link.close() }
                report.good("broker", link.description)
                checkExchanges(configuration, link, &report)
                checkQueues(configuration, link, &report)
            } catch {
                report.fail("broker", error.message, remedy: error.remedy, error.status)
            }
        }
    }

    private func checkExchanges(
        _ configuration: WorkerConfiguration, _ link: CommandConnection, _ report: inout CheckReport
    ) {
        guard let topology = try? configuration.topology() else { return }
        var found = 0
        for exchange in topology.exchanges.map(\.name) {
            do throws(CommandFailure) {
                try link.find(exchange: exchange)
                found += 1
            } catch  where error.lack == .means {
                return report.fail(
                    "broker", error.message, remedy: "A worker needs a channel for each route, and more to publish.",
                    error.status)
            } catch  where error.status == .refused {
                report.skip("exchange \(exchange)", because: "the broker does not show it to this user")
            } catch {
                report.fail(
                    "exchange \(exchange)", error.message, remedy: "Create it with: martlet topology apply",
                    error.status)
            }
        }
        if found == topology.exchanges.count { report.good("exchanges", "\(found) are there") }
    }

    private func checkQueues(
        _ configuration: WorkerConfiguration, _ link: CommandConnection, _ report: inout CheckReport
    ) {
        guard let topology = try? configuration.topology() else { return }
        for queue in topology.queues.map(\.name) {
            do throws(CommandFailure) {
                let depth = try link.depth(of: queue)
                let isServed = depth.consumers > 0 || !TopologyNames.isJobQueue(queue)
                let detail = "\(TimeText.count(depth.messages)) waiting\(isServed ? "" : ", no consumer")"
                if isServed || depth.messages == 0 {
                    report.good("queue \(queue)", detail)
                } else {
                    report.warn("queue \(queue)", detail, remedy: "Start a worker; martlet status shows the fleet.")
                }
            } catch  where error.lack == .means {
                return report.fail(
                    "broker", error.message, remedy: "A worker needs a channel for each route, and more to publish.",
                    error.status)
            } catch  where error.status == .refused {
                // RabbitMQ 4.3 shows a queue only to users with a permission for it, and 4.2.6 and 4.3.0 only to those who
                // may declare it.
                report.skip("queue \(queue)", because: "the broker does not show it to this user")
            } catch {
                report.fail(
                    "queue \(queue)", error.message, remedy: "Create it with: martlet topology apply", error.status)
            }
        }
    }

    /// Looks for both root certificates that Apple names, if any route goes to Apple.
    private func checkRoots(_ configuration: WorkerConfiguration, _ report: inout CheckReport) {
        let endpoints = configuration.routes.compactMap {
            try? APNSEndpoint.parse(configuration.apns.address(of: $0.environment))
        }
        guard endpoints.contains(where: { $0.host.hasSuffix(".push.apple.com") }) else { return }
        let trust = TrustRoots(systemRoots: true, files: configuration.apns.trustFile.map { [$0] } ?? [])
        for root in WellKnownRoot.apns {
            let name = "root \(root.commonName)"
            do throws(TLSError) {
                if try trust.contains(root) {
                    report.good(name, "trusted")
                    continue
                }
                report.warn(
                    name, "not trusted; Apple asks for both of its roots, for connections may end at either",
                    remedy: "Update ca-certificates, or name a file with the root in apns.trust_file; Apple links to "
                        + "it under “Setting up a remote notification server”.")
            } catch {
                report.fail("apns.trust_file", error.message, remedy: "Check path and content.", .configuration)
                return
            }
        }
    }

    /// Connects to every APNs that a route needs, and to the hosts for broadcast channels of the same environment.
    private func checkAPNS(_ configuration: WorkerConfiguration, _ report: inout CheckReport) {
        let apns = configuration.apns
        for environment in APNSEnvironment.allCases
        where configuration.routes.contains(where: { $0.environment == environment }) {
            let host = APNSConfiguration.Host(setting: "apns", address: apns.address(of: environment))
            for host in [host] + apns.broadcastChannelHosts(of: environment) {
                reach(host, "\(host.setting) \(environment.rawValue)", apns, &report)
            }
        }
    }

    private func reach(
        _ host: APNSConfiguration.Host, _ name: String, _ apns: APNSConfiguration, _ report: inout CheckReport
    ) {
        let trust = TrustRoots(systemRoots: true, files: apns.trustFile.map { [$0] } ?? [])
        do {
            let endpoint = try APNSEndpoint.parse(host.address)
            let proxy = try apns.proxy(for: endpoint)
            report.good(
                name, try APNSProbe.reach(endpoint, through: proxy, trust: trust, timeout: timeout.duration))
        } catch let failure as APNSProbe.Failure {
            let detail = "\(host.address): \(failure.detail)"
            if host.isAssumed {
                report.warn(name, "\(detail); only jobs about broadcast channels need it", remedy: failure.remedy)
            } else {
                report.fail(name, detail, remedy: failure.remedy, .unreachable)
            }
        } catch {
            // The loader has already read all addresses, so this error is not about an address.
            report.fail(name, "\(error)", remedy: "Check the section apns.", .configuration)
        }
    }
}
