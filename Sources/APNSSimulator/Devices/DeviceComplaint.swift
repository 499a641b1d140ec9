/// The reason why the simulator refuses a device's request.
struct DeviceComplaint: Error {
    /// The text that the device gets.
    let text: String

    /// A complaint of these words.
    init(_ text: String) { self.text = text }
}
