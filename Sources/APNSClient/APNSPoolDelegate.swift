package import EventLoop

/// Is told by a pool what its lane must know; all calls come on the lane's thread.
package protocol APNSPoolDelegate: AnyObject {
    /// A request is over; called exactly once for each that was submitted.
    ///
    /// It may submit further requests, but must not flush, close or otherwise change the pool.
    ///
    /// - Parameters:
    ///   - pool: the pool.
    ///   - tag: what the request was submitted with; it may be reused at once.
    ///   - answer: how it ended.
    ///   - now: the time.
    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime)

    /// Another connection is wanted: open it on a helper thread, and bring the lane's thread to call
    /// `adopt(_:for:now:)` or `connectFailed(_:for:now:)`.
    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest)

    /// Something waits to be submitted at the end of a turn, while a connection that was asked for is not there yet.
    func poolWaits(_ pool: APNSPool)

    /// `capacity` grew from nothing, or `streamLimit` or `isConnected` changed.
    func poolCapacityChanged(_ pool: APNSPool)

    /// The credential was switched or refused; it must not flush, close or otherwise change the pool.
    func pool(_ pool: APNSPool, credential event: CredentialEvent)
}

extension APNSPoolDelegate {
    /// Does nothing.
    package func pool(_ pool: APNSPool, credential event: CredentialEvent) {}

    /// Does nothing.
    package func poolWaits(_ pool: APNSPool) {}
}
