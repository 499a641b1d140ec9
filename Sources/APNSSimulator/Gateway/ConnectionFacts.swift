/// What is known of a connection when its conversation begins.
struct ConnectionFacts {
    /// Which connection, counted from 1, for the ledger.
    var number: Int
    /// The address of the gateway that the client connected to.
    var address = ""
    /// The certificate the client showed.
    var certificate: ClientCertificate?
    /// What is done with the connection as a whole.
    var plan = ConnectionPlan()
    /// What the gateway tolerates.
    var limits = GatewayLimits()
    /// What the admin API shows of the connection.
    var record = ConnectionRecord()
}
