import HTTP2

/// Receives the events of a stream table's connection.
protocol StreamTableOwner: AnyObject {
    /// A request is over. No other call about this request follows.
    func streamEnded(tag: Int, _ answer: consuming PushAnswer, _ end: APNSConnectionStateMachine.StreamEnd)
    /// The peer announced settings.
    func settingsReceived()
    /// The peer is going away.
    func goAwayReceived(_ goAway: HTTP2GoAway)
    /// A PING was answered.
    func pingAcknowledged()
}
