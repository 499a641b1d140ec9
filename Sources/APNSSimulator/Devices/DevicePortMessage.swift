/// A message from another thread to the device port's thread.
enum DevicePortMessage: Sendable {
    /// Close everything and end.
    case stop
    /// Send a frame on a connection, if it is still there.
    case send(DeviceFrame, link: Int)
    /// Close a connection.
    case close(link: Int)
    /// Write changes to disk soon.
    case save
}
