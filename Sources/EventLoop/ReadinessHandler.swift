/// Is told by an event loop when its socket is ready.
package protocol ReadinessHandler: AnyObject {
    /// Does what the socket is ready for.
    ///
    /// Readiness is level-triggered: work that is left undone is reported again in the next turn. With a hang-up there
    /// may still be bytes to read. The handler may watch, change and unwatch any socket, its own included.
    ///
    /// - Parameters:
    ///   - readiness: What the socket is ready for.
    ///   - now: The time read after the turn's wait.
    func socketIsReady(_ readiness: Readiness, now: MonotonicTime)
}
