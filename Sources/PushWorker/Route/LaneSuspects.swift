/// What the lanes of a route tell each other about suspects: deliveries that may have ended a process before.
///
/// One lane at a time takes a suspect up, while all other lanes stand still.
struct LaneSuspects {
    private let turns: SuspectTurns
    private let peers: RoutePeers
    /// Whether the other lanes know of suspects here.
    private var saidSuspects = false

    /// A lane without suspects.
    ///
    /// - Parameters:
    ///   - turns: Whose turn it is.
    ///   - peers: The other lanes.
    init(_ turns: SuspectTurns, among peers: RoutePeers) {
        self.turns = turns
        self.peers = peers
    }

    /// Whether the other lanes let this lane take a suspect up.
    var mayTake: Bool { turns.mayTake(peers.lane, of: peers.lanes) }

    /// Whether this lane has to stand still, because another lane takes up suspects.
    var makesRoom: Bool { turns.lane.map { $0 != peers.lane } ?? false }

    /// Tells the other lanes what they must know. Called only where there are other lanes.
    ///
    /// - Parameters:
    ///   - hasSuspects: Whether suspects are held here, or one is being worked on. False while this lane cannot take
    ///     its suspects up, so that no other lane waits for it.
    ///   - isStill: Whether nothing is under way here except suspects that are held, and nothing more can arrive.
    mutating func share(hasSuspects: Bool, isStill: Bool) {
        let lane = peers.lane
        var isNews = hasSuspects != saidSuspects
        if isNews {
            saidSuspects = hasSuspects
            turns.note(lane, hasSuspects: hasSuspects)
        }
        if let turn = turns.lane, turns.note(lane, isStill: turn != lane && isStill) { isNews = true }
        guard isNews else { return }
        for other in peers.lanes where other != lane && !peers.tell(other, .suspectsChanged) {
            // A lane that has ended does nothing any more.
            _ = turns.note(other, isStill: true)
        }
    }
}
