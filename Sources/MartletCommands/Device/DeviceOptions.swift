import APNSSimulator
import ArgumentParser
import FoundationEssentials

/// The options of `martlet simulator` about devices, storage and broadcast.
struct DeviceOptions: ParsableArguments {
    /// Which device tokens the simulator takes.
    enum DeviceTokenChoice: String, CaseIterable, ExpressibleByArgument {
        /// Made-up ones, too.
        case any
        /// Only those that it has issued.
        case issued
    }

    /// Which notifications wait for a device that is offline.
    enum StorageChoice: String, CaseIterable, ExpressibleByArgument {
        /// The newest notification of each app.
        case latest
        /// All of them.
        case all
    }

    /// The usual port of the gateway. With it the other ports have their usual numbers, too.
    static let usualGatewayPort = 2197

    @Option(help: "The port devices connect to. (default: 5223; any free one where --port is not 2197)")
    var devicePort: Int?

    @Option(
        help: """
            The port of broadcast channel management. (default: as Apple's, 2195 for development and 2196 for \
            production; any free one where --port is not 2197)
            """)
    var managementPort: Int?

    @Option(
        help: """
            A port for publishing to broadcast channels and nothing else; 0 for any free one. (default: on the \
            gateway)
            """)
    var broadcastPort: Int?

    @Option(help: "Which device tokens to take: any, or only those issued to devices of this simulator.")
    var deviceTokens = DeviceTokenChoice.any

    @Option(help: "What waits for an offline device: the latest notification of each app, or all.")
    var store = StorageChoice.latest

    @Option(help: "How many notifications are held for all devices together; beyond it pushes get ServiceUnavailable.")
    var backlogLimit = DeviceConfiguration().backlogLimit

    @Option(help: "Device tokens expire so many seconds after they were issued. (default: never)")
    var deviceTokenLifetime: Int64?

    @Option(help: "An app with the broadcast capability; others get FeatureNotEnabled. Repeatable. (default: all apps)")
    var broadcastApp: [String] = []

    /// Checks what the parser cannot.
    func validate() throws {
        guard [devicePort, managementPort, broadcastPort].allSatisfy({ (0...65_535).contains($0 ?? 0) }) else {
            throw ValidationError("a port is a number from 0 to 65535")
        }
        guard backlogLimit >= 0 else { throw ValidationError("--backlog-limit is 0 or more") }
        guard (1...Int64(Int32.max)).contains(deviceTokenLifetime ?? 1) else {
            throw ValidationError("--device-token-lifetime is a number of seconds from 1 on")
        }
    }

    /// Puts the choices into a configuration whose port and environment are chosen already.
    ///
    /// - Parameter configuration: Receives the choices.
    func apply(to configuration: inout SimulatorConfiguration) {
        let isUsual = configuration.port == Self.usualGatewayPort
        let usualManagementPort = configuration.environment == .production ? 2196 : 2195
        configuration.devices.port = devicePort ?? (isUsual ? 5223 : 0)
        configuration.devices.managementPort = managementPort ?? (isUsual ? usualManagementPort : 0)
        configuration.devices.broadcastPort = broadcastPort
        configuration.devices.demandsIssuedTokens = deviceTokens == .issued
        configuration.devices.storesAll = store == .all
        configuration.devices.backlogLimit = backlogLimit
        configuration.devices.tokenLifetime = deviceTokenLifetime
        if !broadcastApp.isEmpty { configuration.devices.broadcastApps = Set(broadcastApp) }
    }
}
