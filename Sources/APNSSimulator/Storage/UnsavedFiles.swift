/// Which files of devices and broadcast channels are out of date.
///
/// A value without lock or files.
struct UnsavedFiles: Sendable {
    /// Devices whose files are to be written.
    private(set) var devices: Set<DeviceID> = []
    /// Devices whose files are to be removed.
    private(set) var forgotten: Set<DeviceID> = []
    /// Whether the broadcast channels' file is to be written.
    private(set) var areBroadcastChannelsChanged = false

    /// Notes that a device has changed.
    ///
    /// - Parameter device: The device.
    mutating func change(_ device: DeviceID) { devices.insert(device) }

    /// Notes that a device is no longer known.
    ///
    /// - Parameter device: The device.
    mutating func forget(_ device: DeviceID) {
        devices.remove(device)
        forgotten.insert(device)
    }

    /// Notes that a broadcast channel has changed.
    mutating func changeBroadcastChannels() { areBroadcastChannelsChanged = true }

    /// Hands out all that is out of date, and begins again with nothing.
    mutating func take() -> UnsavedFiles {
        let taken = self
        self = UnsavedFiles()
        return taken
    }

    /// Notes again the files that could not be written. The files of forgotten devices were removed before.
    ///
    /// - Parameter taken: What ``take()`` handed out.
    mutating func putBack(_ taken: UnsavedFiles) {
        devices.formUnion(taken.devices)
        if taken.areBroadcastChannelsChanged { areBroadcastChannelsChanged = true }
    }
}
