/// The ports of one private broker, all of the loopback interface.
struct PrivateBrokerPorts: Sendable {
    var amqp: Int
    var amqps: Int
    var management: Int
    var distribution: Int
    var portMapper: Int

    /// Five ports that are free now.
    static func free() throws(LocalStackError) -> PrivateBrokerPorts {
        let ports = try FreePort.several(5)
        return PrivateBrokerPorts(
            amqp: ports[0], amqps: ports[1], management: ports[2], distribution: ports[3], portMapper: ports[4])
    }
}
