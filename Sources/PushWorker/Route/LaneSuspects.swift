/// What the lanes of a route tell each other of suspects. One lane at a time takes a suspect up, while all others stand
/// still. Suspects are deliveries that may have ended a process before.
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

    /// Whether this lane may take a suspect up, as far as the others are concerned.
    var mayTake: Bool { turns.mayTake(peers.lane, of: peers.lanes) }

    /// Whether this lane has to stand still, because another lane takes up suspects.
    var makesRoom: Bool { turns.lane.map { $0 != peers.lane } ?? false }

    /// Tells the other lanes what they must know. There are others.
    ///
    /// - Parameters:
    ///   - hasSuspects: Whether suspects are held here, or one is being worked on. A lane that cannot take its suspects
    ///     up now keeps no other lane waiting.
    ///   - isStill: Whether nothing is under way here but suspects that are held, and nothing more can arrive.
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
