/// What the device port's thread can be told from outside.
enum DevicePortMessage: Sendable {
    /// Close everything and end.
    case stop
    /// Send a frame on a connection, if it is still there.
    case send(DeviceFrame, link: Int)
    /// Close a connection.
    case close(link: Int)
    /// Something has to be written to disk soon.
    case save
}
