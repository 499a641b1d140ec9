/// What a device is, and where its simulator is.
package struct DeviceClientConfiguration: Sendable {
    /// An app on the device.
    package struct App: Hashable, Sendable {
        /// The bundle identifier.
        package var identifier: String
        /// The push type whose token it wants; nil for the app's own.
        package var kind: String?

        /// Describes an app.
        ///
        /// - Parameters:
        ///   - identifier: The bundle identifier.
        ///   - kind: The push type whose token it wants; nil for the app's own.
        package init(_ identifier: String, kind: String? = nil) {
            self.identifier = identifier
            self.kind = kind
        }
    }

    /// The directory that keeps the device's certificate; made where it is missing.
    package var stateDirectory: String
    /// The simulator's host.
    package var host: String
    /// The simulator's device port.
    package var port: Int
    /// The simulator's authority in PEM.
    package var authorityPEM: [UInt8]
    /// What the owner calls the device.
    package var name = "device"
    /// The apps on it.
    package var apps: [App] = []
    /// `development` or `production`; nil for the one the simulator plays.
    package var environment: String?
    /// The power state at first.
    package var power = PowerState.normal
    /// Whether it starts without a connection.
    package var startsOffline = false

    /// Describes a device with the defaults above.
    ///
    /// - Parameters:
    ///   - stateDirectory: The directory that keeps the device's certificate.
    ///   - host: The simulator's host.
    ///   - port: The simulator's device port.
    ///   - authorityPEM: The simulator's authority in PEM.
    package init(stateDirectory: String, host: String, port: Int, authorityPEM: [UInt8]) {
        self.stateDirectory = stateDirectory
        self.host = host
        self.port = port
        self.authorityPEM = authorityPEM
    }
}
