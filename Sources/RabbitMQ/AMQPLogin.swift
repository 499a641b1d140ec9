import CRabbitMQ
import Text

/// Who logs in, where and how: the client's half of the login (AMQP 0-9-1, the class connection).
struct AMQPLogin {
    /// The capabilities that this client declares. Without them the broker would not report its alarms, the consumers
    /// that it cancels, and the logins that it refuses.
    private static let capabilities = [
        "consumer_cancel_notify", "connection.blocked", "basic.nack", "publisher_confirms",
        "authentication_failure_close",
    ]

    /// Where the connection leads, and the user.
    let endpoint: AMQPEndpoint
    /// The name operators see in the broker's list of connections.
    let clientName: String
    /// The version they see.
    let clientVersion: String

    /// The mechanism of the login, `PLAIN` or `EXTERNAL`.
    var mechanism: String { endpoint.saslExternal ? "EXTERNAL" : "PLAIN" }

    /// The limits to ask for.
    var limits: AMQPLimits {
        AMQPLimits(channelMax: endpoint.channelMax, frameMax: endpoint.frameMax, heartbeat: endpoint.heartbeat)
    }

    /// The login in words, for errors: who asks for what, without the password.
    var text: String {
        let who = endpoint.saslExternal ? "the client certificate" : "user \(endpoint.user)"
        return "\(who) on virtual host \(endpoint.virtualHost) of \(endpoint.host):\(endpoint.port)"
    }

    /// What is odd about the password, to follow the words of a refusal; empty if nothing is.
    var passwordHint: String {
        guard !endpoint.saslExternal, let hint = TrailingBlank.hint(Array(endpoint.password.utf8)) else { return "" }
        return "; of the password: \(hint)"
    }

    /// Adds the login to the message of an error that ended it.
    ///
    /// - Parameter error: What happened during the login.
    /// - Returns: The error with the login in its message.
    func failed(_ error: AMQPError) -> AMQPError {
        var error = error
        error.message = "login of \(text): \(error.message)"
        return error
    }

    /// Writes connection.start-ok: who this is, what it understands, and the user's name and password.
    ///
    /// - Parameter output: The writer that gets the method.
    /// - Throws: An error that ends the connection.
    func putStartOk(into output: inout FrameWriter) throws(AMQPError) {
        func entry(_ name: String, _ value: FieldValue) -> FieldTable.Entry {
            FieldTable.Entry(name: Array(name.utf8), value: value)
        }
        let properties = FieldTable(entries: [
            entry("connection_name", .text(clientName)), entry("product", .text("martlet")),
            entry("version", .text(clientVersion)),
            entry("capabilities", .table(FieldTable(entries: Self.capabilities.map { entry($0, .boolean(true)) }))),
        ])
        let response: [UInt8] =
            endpoint.saslExternal ? [] : [0] + Array(endpoint.user.utf8) + [0] + Array(endpoint.password.utf8)
        var values = LibraryValues()
        var startOk = amqp_connection_start_ok_t()
        startOk.client_properties = values.encode(properties)
        startOk.mechanism = try values.name(mechanism)
        startOk.response = values.copy(response)
        startOk.locale = try values.name("en_US")
        let size = FrameWriter.ordinarySize + FieldValue.table(properties).encodedSize + response.count
        try output.putMethod(Method.connectionStartOk, 0, &startOk, size: size)
    }

    /// Writes connection.tune-ok, and connection.open for the virtual host.
    ///
    /// - Parameters:
    ///   - limits: The agreed limits.
    ///   - output: The writer that gets the methods.
    /// - Throws: An error that ends the connection.
    func putOpen(_ limits: AMQPLimits, into output: inout FrameWriter) throws(AMQPError) {
        var tuneOk = amqp_connection_tune_ok_t(
            channel_max: UInt16(clamping: limits.channelMax), frame_max: UInt32(clamping: limits.frameMax),
            heartbeat: UInt16(clamping: limits.heartbeat))
        try output.putMethod(Method.connectionTuneOk, 0, &tuneOk)
        var values = LibraryValues()
        var open = amqp_connection_open_t()
        open.virtual_host = try values.name(endpoint.virtualHost)
        try output.putMethod(Method.connectionOpen, 0, &open)
    }
}
