import EventLoop

/// Receives the events of a connection that its pool must know.
protocol APNSConnectionOwner: AnyObject {
    /// A request is over.
    func connection(
        _ connection: APNSConnection, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime)
    /// The socket was ready, and was read and written. Capacity or state may have changed.
    func connectionProgressed(_ connection: APNSConnection, now: MonotonicTime)
    /// The connection is gone. Every request on it has had its answer.
    func connectionEnded(_ connection: APNSConnection, _ error: APNSClientError?, now: MonotonicTime)
}
