package import EventLoop

/// Receives the events of a pool that its lane must know. All calls come on the lane's thread.
package protocol APNSPoolDelegate: AnyObject {
    /// A request is over. Called exactly once for each request that was submitted.
    ///
    /// The delegate may submit further requests, but must not flush, close or otherwise change the pool.
    ///
    /// - Parameters:
    ///   - pool: The pool.
    ///   - tag: The tag that the request was submitted with. It may be reused at once.
    ///   - answer: How the request ended.
    ///   - now: The time.
    func pool(_ pool: APNSPool, tag: Int, answered answer: consuming PushAnswer, now: MonotonicTime)

    /// Another connection is wanted. Open it on a helper thread, and have the lane's thread call `adopt(_:for:now:)` or
    /// `connectFailed(_:for:now:)`.
    func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest)

    /// Something waits to be submitted at the end of a turn, and a requested connection is not there yet.
    func poolWaits(_ pool: APNSPool)

    /// `capacity` rose above the kept part after the pool had no room, or `streamLimit` or `isConnected` changed.
    func poolCapacityChanged(_ pool: APNSPool)

    /// A version of the credential was tried, accepted, refused or taken again. The delegate must not flush, close or
    /// otherwise change the pool.
    func pool(_ pool: APNSPool, credential event: CredentialEvent)
}

extension APNSPoolDelegate {
    /// Does nothing.
    package func pool(_ pool: APNSPool, credential event: CredentialEvent) {}

    /// Does nothing.
    package func poolWaits(_ pool: APNSPool) {}
}
