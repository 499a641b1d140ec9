/// Method numbers: class in the upper, method in the lower sixteen bits (AMQP 0-9-1, 1.2 and RabbitMQ's extensions).
enum Method {
    /// The class basic, whose messages have content.
    static let basicClass: UInt16 = 60
    /// connection.start
    static let connectionStart: UInt32 = 0x000a_000a
    /// connection.start-ok
    static let connectionStartOk: UInt32 = 0x000a_000b
    /// connection.secure
    static let connectionSecure: UInt32 = 0x000a_0014
    /// connection.tune
    static let connectionTune: UInt32 = 0x000a_001e
    /// connection.tune-ok
    static let connectionTuneOk: UInt32 = 0x000a_001f
    /// connection.open
    static let connectionOpen: UInt32 = 0x000a_0028
    /// connection.open-ok
    static let connectionOpenOk: UInt32 = 0x000a_0029
    /// connection.close
    static let connectionClose: UInt32 = 0x000a_0032
    /// connection.close-ok
    static let connectionCloseOk: UInt32 = 0x000a_0033
    /// connection.blocked
    static let connectionBlocked: UInt32 = 0x000a_003c
    /// connection.unblocked
    static let connectionUnblocked: UInt32 = 0x000a_003d
    /// channel.open
    static let channelOpen: UInt32 = 0x0014_000a
    /// channel.open-ok
    static let channelOpenOk: UInt32 = 0x0014_000b
    /// channel.flow
    static let channelFlow: UInt32 = 0x0014_0014
    /// channel.flow-ok
    static let channelFlowOk: UInt32 = 0x0014_0015
    /// channel.close
    static let channelClose: UInt32 = 0x0014_0028
    /// channel.close-ok
    static let channelCloseOk: UInt32 = 0x0014_0029
    /// queue.declare
    static let queueDeclare: UInt32 = 0x0032_000a
    /// queue.declare-ok
    static let queueDeclareOk: UInt32 = 0x0032_000b
    /// queue.bind
    static let queueBind: UInt32 = 0x0032_0014
    /// queue.bind-ok
    static let queueBindOk: UInt32 = 0x0032_0015
    /// queue.purge
    static let queuePurge: UInt32 = 0x0032_001e
    /// queue.purge-ok
    static let queuePurgeOk: UInt32 = 0x0032_001f
    /// queue.delete
    static let queueDelete: UInt32 = 0x0032_0028
    /// queue.delete-ok
    static let queueDeleteOk: UInt32 = 0x0032_0029
    /// exchange.declare
    static let exchangeDeclare: UInt32 = 0x0028_000a
    /// exchange.declare-ok
    static let exchangeDeclareOk: UInt32 = 0x0028_000b
    /// basic.qos
    static let basicQos: UInt32 = 0x003c_000a
    /// basic.qos-ok
    static let basicQosOk: UInt32 = 0x003c_000b
    /// basic.consume
    static let basicConsume: UInt32 = 0x003c_0014
    /// basic.consume-ok
    static let basicConsumeOk: UInt32 = 0x003c_0015
    /// basic.cancel
    static let basicCancel: UInt32 = 0x003c_001e
    /// basic.cancel-ok
    static let basicCancelOk: UInt32 = 0x003c_001f
    /// basic.publish
    static let basicPublish: UInt32 = 0x003c_0028
    /// basic.return
    static let basicReturn: UInt32 = 0x003c_0032
    /// basic.deliver
    static let basicDeliver: UInt32 = 0x003c_003c
    /// basic.get
    static let basicGet: UInt32 = 0x003c_0046
    /// basic.get-ok
    static let basicGetOk: UInt32 = 0x003c_0047
    /// basic.get-empty
    static let basicGetEmpty: UInt32 = 0x003c_0048
    /// basic.ack
    static let basicAck: UInt32 = 0x003c_0050
    /// basic.reject
    static let basicReject: UInt32 = 0x003c_005a
    /// basic.nack
    static let basicNack: UInt32 = 0x003c_0078
    /// confirm.select
    static let confirmSelect: UInt32 = 0x0055_000a
    /// confirm.select-ok
    static let confirmSelectOk: UInt32 = 0x0055_000b
}
