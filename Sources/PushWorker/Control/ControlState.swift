/// The present wishes of operators: the commands of the stream `apns.q.control`, folded in the stream's order. Pure:
/// time comes in.
///
/// - The later command about a target counts, also where two operators contradict each other. An earlier one does not
///   come back when the later one ends.
/// - `resume` takes back the pause or the cancellation of its own target only: a route, or the campaign with exactly that
///   prefix. One that has an end does so until then only: afterwards the earlier command is in force again, unless it is
///   over itself.
/// - A command whose `until` is over is not in force.
package struct ControlState: Sendable, Equatable {
    /// For how many routes commands are kept at most. A fleet has fewer routes, so more names would only be wrong ones.
    package static let mostRoutes = 1_000
    /// For how many campaigns commands are kept at most. Each look at a job's campaign is a search among them.
    package static let mostCampaigns = 1_000

    private struct Standing: Equatable {
        let command: ControlCommand
        /// The command's place in the stream, counted from 1.
        let place: Int

        func isInForce(at now: Int64) -> Bool { command.until.map { $0 > now } ?? true }
    }

    /// A pause or a cancellation, and the `resume` that interrupts it.
    private struct Hold: Equatable {
        let holding: Standing
        /// The `resume`, which has an end; nil for none.
        var respite: Standing?

        /// The hold of a target after the next pause, cancellation or `resume` of it; nil for none.
        static func after(_ standing: Standing, _ known: Hold?) -> Hold? {
            guard standing.command.action == .resume else { return Hold(holding: standing) }
            guard standing.command.until != nil, var hold = known else { return nil }
            hold.respite = standing
            return hold
        }

        /// The place of the last of its commands.
        var place: Int { respite?.place ?? holding.place }
        /// The one of its commands that is in force; nil for neither.
        func inForce(at now: Int64) -> Standing? {
            if let respite, respite.isInForce(at: now) { return respite }
            return holding.isInForce(at: now) ? holding : nil
        }
        /// The hold with the lowest rank is forgotten first.
        func rank(at now: Int64) -> (Int, Int) { (inForce(at: now) == nil ? 0 : 1, place) }
    }

    private struct RouteCommands: Equatable {
        var pause: Hold?
        var rate: Standing?
        var trust: Standing?

        var isEmpty: Bool { pause == nil && rate == nil && trust == nil }
        /// The place of the last of them.
        var place: Int { max(pause?.place ?? 0, rate?.place ?? 0, trust?.place ?? 0) }
        /// Whether one of these commands still changes something. A `trust` has done its work.
        func isInForce(at now: Int64) -> Bool {
            pause?.inForce(at: now) != nil || rate?.isInForce(at: now) == true
        }
        /// The route with the lowest rank is forgotten first.
        func rank(at now: Int64) -> (Int, Int) { (isInForce(at: now) ? 1 : 0, place) }
    }

    /// Whether all commands are known that were given before. What may still be taken back by a command that is not known
    /// must not be done if it is final: a cancelled campaign then only waits.
    package var isWhole = true
    private var routes: [String: RouteCommands] = [:]
    private var campaigns: [String: Hold] = [:]
    /// How many commands were taken.
    private var count = 0

    /// Nobody wants anything.
    package init() {}

    // MARK: Folding

    /// Takes the next command of the stream. One whose action is not possible for its target changes nothing.
    ///
    /// If there are too many routes or campaigns, one is forgotten for each new one: first one whose commands are not
    /// in force any more, then the one whose last command is the oldest.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - now: The time in milliseconds since 1970.
    package mutating func apply(_ command: ControlCommand, at now: Int64) {
        guard command.action.applies(to: command.target) else { return }
        count += 1
        let standing = Standing(command: command, place: count)
        switch command.target {
        case .route(let name): apply(standing, toRoute: name, at: now)
        case .campaign(let prefix): apply(standing, toCampaign: prefix, at: now)
        }
    }

    private mutating func apply(_ standing: Standing, toRoute name: String, at now: Int64) {
        var commands = routes[name] ?? RouteCommands()
        switch standing.command.action {
        case .pause, .resume: commands.pause = .after(standing, commands.pause)
        case .rate: commands.rate = standing.command.perSecond == nil ? nil : standing
        case .trust: commands.trust = standing
        case .cancel: return
        }
        guard !commands.isEmpty else { return routes[name] = nil }
        if routes[name] == nil, routes.count >= Self.mostRoutes {
            let first = routes.min { $0.value.rank(at: now) < $1.value.rank(at: now) }
            if let first { routes[first.key] = nil }
        }
        routes[name] = commands
    }

    private mutating func apply(_ standing: Standing, toCampaign prefix: String, at now: Int64) {
        guard let hold = Hold.after(standing, campaigns[prefix]) else { return campaigns[prefix] = nil }
        if campaigns[prefix] == nil, campaigns.count >= Self.mostCampaigns {
            let first = campaigns.min { $0.value.rank(at: now) < $1.value.rank(at: now) }
            if let first { campaigns[first.key] = nil }
        }
        campaigns[prefix] = hold
    }

    // MARK: Questions

    /// The command that pauses a route; nil for a route that is not paused.
    ///
    /// - Parameters:
    ///   - name: The route's name.
    ///   - now: The time in milliseconds since 1970.
    package func pause(ofRoute name: String, at now: Int64) -> ControlCommand? {
        routes[name]?.pause?.inForce(at: now).flatMap { $0.command.action == .pause ? $0.command : nil }
    }

    /// The command that sets the rate of a route for all workers together; nil for a route without one.
    ///
    /// - Parameters:
    ///   - name: The route's name.
    ///   - now: The time in milliseconds since 1970.
    package func rate(ofRoute name: String, at now: Int64) -> ControlCommand? {
        routes[name]?.rate.flatMap { $0.isInForce(at: now) ? $0.command : nil }
    }

    /// The last command that said that a route's dead tokens can be trusted; nil without one.
    ///
    /// - Parameter name: The route's name.
    package func trust(ofRoute name: String) -> ControlCommand? { routes[name]?.trust?.command }

    /// The campaigns about which commands are in force now, for looks at many jobs.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    package func campaigns(at now: Int64) -> CampaignIndex {
        CampaignIndex(campaigns.values.lazy.compactMap { $0.inForce(at: now)?.command }, cancels: isWhole)
    }

    /// All commands in force, in the order of the stream, for people. A `trust` is not among them, because it is over
    /// at once.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    package func inForce(at now: Int64) -> [ControlCommand] {
        let rates = routes.values.compactMap(\.rate).filter { $0.isInForce(at: now) }
        let holds = [routes.values.compactMap(\.pause), Array(campaigns.values)].joined()
        return (rates + holds.compactMap { $0.inForce(at: now) }).sorted { $0.place < $1.place }.map(\.command)
    }

    /// When the next command ends by itself, in milliseconds since 1970; nil if none does. Afterwards others may be in
    /// force: fewer, or those that it interrupted.
    ///
    /// - Parameter now: The time in milliseconds since 1970.
    package func nextEnd(after now: Int64) -> Int64? {
        var end: Int64?
        func look(at standing: Standing?) {
            guard let until = standing?.command.until, until > now else { return }
            end = min(end ?? until, until)
        }
        for commands in routes.values {
            look(at: commands.pause?.holding)
            look(at: commands.pause?.respite)
            look(at: commands.rate)
        }
        for hold in campaigns.values {
            look(at: hold.holding)
            look(at: hold.respite)
        }
        return end
    }
}
