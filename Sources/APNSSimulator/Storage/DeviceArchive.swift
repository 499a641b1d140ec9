import FoundationEssentials

/// Devices and broadcast channels, as files. Each device has its own file, so that a change of one device costs little.
struct DeviceArchive: Sendable {
    /// The largest file of a device that is read or written, in bytes.
    static let deviceFileLimit = 16 << 20
    /// The largest file of broadcast channels that is read or written, in bytes.
    static let broadcastChannelsFileLimit = 1 << 30

    /// The content of a device's file.
    struct DeviceFile: Codable, Equatable {
        /// The device.
        var device: DeviceRegistry.Device
    }

    private let devices: StateDirectory
    private let root: StateDirectory

    /// Opens the archive.
    ///
    /// - Parameter root: The simulator's state directory.
    /// - Throws: ``SimulatorError`` where the directory cannot be made.
    init(in root: StateDirectory) throws(SimulatorError) {
        self.root = root
        devices = try StateDirectory(root.file("devices"))
    }

    /// Reads all devices.
    ///
    /// - Returns: The devices, at most as many as a registry holds.
    /// - Throws: ``SimulatorError`` that names the file or directory that cannot be read or understood.
    func load() throws(SimulatorError) -> [DeviceRegistry.Device] {
        var found: [DeviceRegistry.Device] = []
        for name in try devices.names(endingWith: ".json").prefix(DeviceRegistry.deviceLimit) {
            let file = try read(DeviceFile.self, name, from: devices, limit: Self.deviceFileLimit)
            if let file { found.append(file.device) }
        }
        return found
    }

    /// Writes a device.
    ///
    /// - Parameter device: The device and its tokens.
    /// - Throws: ``SimulatorError`` where it cannot be written.
    func save(_ device: DeviceRegistry.Device) throws(SimulatorError) {
        try write(DeviceFile(device: device), to: "\(device.id).json", in: devices, limit: Self.deviceFileLimit)
    }

    /// Removes a device.
    ///
    /// - Parameter device: The device.
    func remove(_ device: DeviceID) { devices.remove("\(device).json") }

    /// Reads the broadcast channels.
    ///
    /// - Returns: The broadcast channels; none where nothing was kept.
    /// - Throws: ``SimulatorError`` where the file cannot be read or understood.
    func loadBroadcastChannels() throws(SimulatorError) -> [BroadcastChannelRegistry.Entry] {
        let kept = try read(
            [BroadcastChannelRegistry.Entry].self, "channels.json", from: root, limit: Self.broadcastChannelsFileLimit)
        return kept ?? []
    }

    /// Writes the broadcast channels.
    ///
    /// - Parameter broadcastChannels: All of them.
    /// - Throws: ``SimulatorError`` where they cannot be written.
    func save(_ broadcastChannels: [BroadcastChannelRegistry.Entry]) throws(SimulatorError) {
        try write(broadcastChannels, to: "channels.json", in: root, limit: Self.broadcastChannelsFileLimit)
    }

    private func read<Value: Decodable>(
        _ type: Value.Type, _ name: String, from directory: StateDirectory, limit: Int
    ) throws(SimulatorError) -> Value? {
        guard let bytes = try directory.read(name, limit: limit) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw SimulatorError(
                .file, "\(directory.file(name)) is damaged; move it away to start without it: \(error)")
        }
    }

    private func write(
        _ value: some Encodable, to name: String, in directory: StateDirectory, limit: Int
    ) throws(SimulatorError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try directory.write([UInt8](try encoder.encode(value)), to: name, isSecret: true, limit: limit)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.file, "cannot write \(directory.file(name)): \(error)")
        }
    }
}
