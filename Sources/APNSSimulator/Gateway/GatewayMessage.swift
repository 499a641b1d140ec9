/// What a gateway's thread can be told from outside.
enum GatewayMessage: Sendable {
    /// Close everything and end.
    case stop
    /// Serve this socket.
    case adopt(SocketBox)
    /// Let every connection look at the time and the service.
    case attend
}
