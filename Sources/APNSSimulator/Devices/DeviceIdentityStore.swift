import FoundationEssentials

/// A device's name and certificate, kept in its own state directory.
struct DeviceIdentityStore: Sendable {
    /// Who a device is.
    struct Identity: Codable, Equatable {
        /// Its name towards the simulator.
        var device: String
        /// Its certificate in PEM.
        var certificate: String
        /// Its private key in PEM: a secret.
        var key: String
    }

    private static let name = "device.json"
    private let directory: StateDirectory

    /// Opens the store.
    ///
    /// - Parameter directory: The path; made where it is missing.
    /// - Throws: ``SimulatorError`` where it cannot be made.
    init(directory: String) throws(SimulatorError) { self.directory = try StateDirectory(directory) }

    /// Reads who the device is.
    ///
    /// - Returns: Nil where it was never activated.
    /// - Throws: ``SimulatorError`` where the file is damaged or cannot be read.
    func load() throws(SimulatorError) -> Identity? {
        guard let bytes = try directory.read(Self.name, limit: 1 << 20) else { return nil }
        do {
            return try JSONDecoder().decode(Identity.self, from: Data(bytes))
        } catch {
            throw SimulatorError(
                .file, "\(directory.file(Self.name)) is damaged; remove it to activate the device again: \(error)")
        }
    }

    /// Keeps who the device is, readable by its owner only.
    ///
    /// - Parameter identity: Who.
    /// - Throws: ``SimulatorError`` where it cannot be written.
    func save(_ identity: Identity) throws(SimulatorError) {
        do {
            try directory.write([UInt8](try JSONEncoder().encode(identity)), to: Self.name, isSecret: true)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.file, "cannot write \(directory.file(Self.name)): \(error)")
        }
    }

    /// Forgets who the device is.
    func forget() { directory.remove(Self.name) }
}
