/// What a connection reported, in order.
package enum SessionEvent: Equatable {
    case channelOpened(UInt16)
    case qosSet(UInt16)
    case consumeStarted(UInt16, String)
    case consumeCancelled(UInt16, String, byBroker: Bool)
    case confirmsSelected(UInt16)
    case channelClosed(UInt16, code: UInt16, text: String)
    case connectionClosed(code: UInt16, text: String)
    case blocked(String)
    case unblocked
    case delivered(
        UInt16, tag: UInt64, redelivered: Bool, exchange: String, key: String, properties: [UInt8], body: String,
        size: UInt64, isTruncated: Bool)
    case returned(UInt16, code: UInt16, id: String, exchange: String, key: String)
    case confirmed(UInt16, tag: UInt64, multiple: Bool, positive: Bool)
}
