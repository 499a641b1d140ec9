/// Why the simulator does not do what a device asks for.
struct DeviceComplaint: Error {
    /// What the device is told.
    let text: String

    /// A complaint of these words.
    init(_ text: String) { self.text = text }
}
