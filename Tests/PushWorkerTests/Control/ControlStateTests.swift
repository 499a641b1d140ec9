import Testing

@testable import PushWorker

@Suite("What operators want now", .timeLimit(.minutes(1)))
struct ControlStateTests {
    private typealias Action = ControlCommand.Action

    private func command(
        _ action: Action, _ target: ControlCommand.Target, until: Int64? = nil, perSecond: Double? = nil,
        by author: String = "anna", issuedAt: Int64 = 1_000
    ) -> ControlCommand {
        ControlCommand(
            id: "c", action: action, target: target, author: author, issuedAt: issuedAt, until: until,
            perSecond: perSecond)
    }

    private func state(_ commands: ControlCommand..., at now: Int64 = 1_000) -> ControlState {
        var state = ControlState()
        for command in commands { state.apply(command, at: now) }
        return state
    }

    @Test("A route is paused until it is resumed; others are not")
    func pause() {
        let pause = command(.pause, .route("app"))
        var state = state(pause)
        #expect(state.pause(ofRoute: "app", at: 2_000) == pause)
        #expect(state.pause(ofRoute: "other", at: 2_000) == nil)
        state.apply(command(.resume, .route("other")), at: 2_000)
        #expect(state.pause(ofRoute: "app", at: 2_000) == pause)
        state.apply(command(.resume, .route("app")), at: 2_000)
        #expect(state == self.state(pause, command(.resume, .route("x")), command(.resume, .route("app"))))
        #expect(state.pause(ofRoute: "app", at: 2_000) == nil)
        #expect(state.inForce(at: 2_000) == [])
    }

    @Test("Of two contradicting operators the later one in the stream stands, whatever their clocks say")
    func contradiction() {
        let late = command(.resume, .route("app"), by: "ben", issuedAt: 1)
        #expect(state(command(.pause, .route("app"), issuedAt: 9_000), late).pause(ofRoute: "app", at: 1_000) == nil)
        let pause = command(.pause, .route("app"), by: "ben", issuedAt: 1)
        let resume = command(.resume, .route("app"), issuedAt: 9_000)
        #expect(state(resume, pause).pause(ofRoute: "app", at: 1_000) == pause)
        let shorter = command(.pause, .route("app"), until: 1_500, by: "ben", issuedAt: 1)
        let state = state(command(.pause, .route("app"), until: 9_000), shorter)
        #expect(state.pause(ofRoute: "app", at: 1_499) == shorter)
        #expect(state.pause(ofRoute: "app", at: 1_500) == nil, "the earlier one does not come back")
    }

    @Test("A command ends by itself, and the next moment at which one does is known")
    func ends() {
        let state = state(
            command(.pause, .route("app"), until: 3_000), command(.rate, .route("app"), until: 2_000, perSecond: 5),
            command(.cancel, .campaign("c-"), until: 4_000), command(.pause, .campaign("d-")),
            command(.pause, .route("over"), until: 1_000))
        #expect(state.nextEnd(after: 1_000) == 2_000)
        #expect(state.nextEnd(after: 2_000) == 3_000)
        #expect(state.nextEnd(after: 3_000) == 4_000)
        #expect(state.nextEnd(after: 4_000) == nil)
        #expect(state.pause(ofRoute: "over", at: 1_000) == nil)
        #expect(state.inForce(at: 1_000).map(\.action) == [.pause, .rate, .cancel, .pause])
        #expect(state.inForce(at: 3_000).map(\.action) == [.cancel, .pause])
        #expect(ControlState().nextEnd(after: 0) == nil)
    }

    @Test("A rate stands beside a pause, and ends by a rate without a number, not by a resume")
    func rate() {
        let rate = command(.rate, .route("app"), perSecond: 500)
        var state = state(rate, command(.pause, .route("app")), command(.resume, .route("app")))
        #expect(state.rate(ofRoute: "app", at: 1_000) == rate)
        #expect(state.rate(ofRoute: "other", at: 1_000) == nil)
        state.apply(command(.rate, .route("app")), at: 1_000)
        #expect(state.rate(ofRoute: "app", at: 1_000) == nil)
    }

    @Test("A resume with an end interrupts a pause, which stands again afterwards")
    func interrupted() {
        let pause = command(.pause, .route("app"), until: 9_000)
        let respite = command(.resume, .route("app"), until: 3_000, by: "ben")
        let state = state(pause, command(.rate, .route("app"), perSecond: 5), respite)
        let moments: [(Int64, ControlCommand?, [ControlCommand.Action], Int64?)] = [
            (1_000, nil, [.rate, .resume], 3_000), (2_999, nil, [.rate, .resume], 3_000),
            (3_000, pause, [.pause, .rate], 9_000), (8_999, pause, [.pause, .rate], 9_000), (9_000, nil, [.rate], nil),
            // The clock was set back.
            (2_000, nil, [.rate, .resume], 3_000),
        ]
        for (now, pause, inForce, end) in moments {
            #expect(state.pause(ofRoute: "app", at: now) == pause, "\(now)")
            #expect(state.inForce(at: now).map(\.action) == inForce, "\(now)")
            #expect(state.nextEnd(after: now) == end, "\(now)")
        }
    }

    @Test("The next command about a route replaces an interrupted pause; a resume without a pause says nothing")
    func interruptedAgain() {
        let (route, other) = (ControlCommand.Target.route("app"), ControlCommand.Target.route("other"))
        let (pause, respite) = (command(.pause, route), command(.resume, route, until: 3_000))
        let table: [([ControlCommand], paused: [Bool], inForce: Int)] = [
            ([respite], [false, false], 0), ([respite, pause], [true, true], 1), ([pause, respite], [false, true], 1),
            ([pause, respite, command(.resume, route)], [false, false], 0),
            ([pause, respite, command(.pause, route, by: "ben")], [true, true], 1),
            ([pause, respite, command(.resume, route, until: 2_500)], [true, true], 1),
            ([pause, respite, command(.resume, route, until: 5_000)], [false, false], 1),
            ([pause, respite, command(.resume, other)], [false, true], 1),
            // One that ends before the resume does.
            ([command(.pause, route, until: 2_000), respite], [false, false], 1),
        ]
        for (row, (commands, paused, inForce)) in table.enumerated() {
            var state = ControlState()
            for command in commands { state.apply(command, at: 1_000) }
            #expect([2_600, 4_000].map { state.pause(ofRoute: "app", at: $0) != nil } == paused, "row \(row)")
            #expect(state.inForce(at: 2_600).count == inForce, "row \(row)")
        }
    }

    @Test("The last word of trust is known, whatever else is said of the route")
    func trust() {
        let second = command(.trust, .route("app"), by: "ben")
        let state = state(command(.trust, .route("app")), second, command(.resume, .route("app")))
        #expect(state.trust(ofRoute: "app") == second)
        #expect(state.trust(ofRoute: "other") == nil)
        #expect(state.inForce(at: 1_000) == [])
    }

    @Test("Of too many routes and campaigns those go first that are over, then those about which was said least lately")
    func limits() {
        var state = ControlState()
        for index in 0..<ControlState.mostRoutes {
            state.apply(command(.pause, .route("r\(index)"), until: index == 7 ? 1_500 : nil), at: 1_000)
            state.apply(command(.pause, .campaign("c\(index)."), until: index == 7 ? 1_500 : nil), at: 1_000)
        }
        // Said again, so it is not the oldest any more.
        state.apply(command(.pause, .route("r0")), at: 1_000)
        state.apply(command(.pause, .campaign("c0.")), at: 1_000)
        func kept(_ index: Int) -> Bool {
            let isKept = state.pause(ofRoute: "r\(index)", at: 1_400) != nil
            let reference = Array("c\(index).x".utf8)
            let isHeld = state.campaigns(at: 1_400).fate(of: reference.span, at: 1_400) != .goesOn
            #expect(isKept == isHeld, "\(index)")
            return isKept
        }
        func add(_ name: String) {
            state.apply(command(.pause, .route("r\(name)")), at: 2_000)
            state.apply(command(.cancel, .campaign("c\(name).")), at: 2_000)
        }
        // An interruption keeps what is over in memory until it ends.
        state.apply(command(.resume, .route("r7"), until: 1_800), at: 1_400)
        state.apply(command(.resume, .campaign("c7."), until: 1_800), at: 1_400)
        #expect(state.inForce(at: 1_600).filter { $0.action == .resume }.count == 2)
        #expect(!kept(7))
        state.apply(command(.pause, .route("r7"), until: 1_900), at: 1_400)
        state.apply(command(.pause, .campaign("c7."), until: 1_900), at: 1_400)
        #expect(kept(7))
        add("a")
        #expect(!kept(7))
        #expect(kept(1))
        add("b")
        #expect(!kept(1))
        #expect(kept(0) && kept(2))
        #expect(state.inForce(at: 2_000).count == ControlState.mostRoutes + ControlState.mostCampaigns)
    }

    // MARK: Campaigns

    private func fate(_ reference: String, _ state: ControlState, at now: Int64 = 1_000) -> CampaignIndex.Fate {
        let bytes = Array(reference.utf8)
        let fate = state.campaigns(at: now).fate(of: bytes.span, at: now)
        // An index that was made before a command ended judges by the time of the look.
        #expect(state.campaigns(at: 0).fate(of: bytes.span, at: now) == fate, "\(reference)")
        return fate
    }

    @Test("A job belongs to the campaign with which its reference begins, byte for byte")
    func prefixes() {
        let state = state(command(.pause, .campaign("campaign-7/")), command(.pause, .campaign("größe")))
        let table: [(String, Bool)] = [
            ("campaign-7/user-81", true), ("campaign-7/", true), ("campaign-7", false), ("campaign-70/user", false),
            ("Campaign-7/user", false), ("", false), ("a", false), ("z", false), ("größer", true), ("gröse", false),
        ]
        for (reference, isPaused) in table {
            #expect(fate(reference, state) == (isPaused ? .paused(until: nil) : .goesOn), "\(reference)")
        }
        #expect(self.state().campaigns(at: 0).isEmpty)
        #expect(self.state(command(.pause, .route("r"))).campaigns(at: 0).isEmpty)
        #expect(!state.campaigns(at: 0).isEmpty)
    }

    @Test("Of several prefixes in force the longest decides")
    func longest() {
        let state = state(
            command(.cancel, .campaign("c/a")), command(.pause, .campaign("c/"), until: 5_000),
            command(.pause, .campaign("c/ab"), until: 2_000), command(.pause, .campaign("b")),
            command(.pause, .campaign("c/c"), until: 4_000), command(.pause, .campaign("d")))
        let cancelled = CampaignIndex.Fate.cancelled(
            leavesDeadLetters: false, detail: "anna cancelled the campaign c/a")
        #expect(fate("c/a1", state) == cancelled)
        #expect(fate("c/ab1", state) == .paused(until: 2_000))
        #expect(fate("c/ab1", state, at: 2_000) == cancelled)
        #expect(fate("c/b", state) == .paused(until: 5_000))
        #expect(fate("c/cd", state) == .paused(until: 4_000))
        #expect(fate("c/zz", state, at: 4_999) == .paused(until: 5_000))
        #expect(fate("c/zz", state, at: 5_000) == .goesOn)
        #expect(fate("c", state) == .goesOn)
    }

    @Test("A campaign is resumed under just its prefix, after a pause and after a cancellation")
    func resumed() {
        var state = state(command(.pause, .campaign("c/")), command(.cancel, .campaign("c/")))
        #expect(fate("c/1", state) != .paused(until: nil))
        state.apply(command(.resume, .campaign("c/1")), at: 1_000)
        #expect(fate("c/1", state) != .goesOn)
        state.apply(command(.resume, .campaign("c/")), at: 1_000)
        #expect(fate("c/1", state) == .goesOn)
        state.apply(command(.pause, .campaign("c/")), at: 1_000)
        #expect(fate("c/1", state) == .paused(until: nil))
    }

    @Test("A campaign that is resumed for a time goes on until then; one with a longer prefix stays as it is")
    func campaignInterrupted() {
        let state = state(
            command(.cancel, .campaign("c/")), command(.pause, .campaign("c/a")), command(.pause, .campaign("d/")),
            command(.resume, .campaign("c/"), until: 3_000), command(.pause, .campaign("e/"), until: 2_000),
            command(.resume, .campaign("e/"), until: 3_000), command(.cancel, .campaign("f")),
            command(.pause, .campaign("f/")), command(.resume, .campaign("f/"), until: 3_000))
        let cancelled = CampaignIndex.Fate.cancelled(
            leavesDeadLetters: false, detail: "anna cancelled the campaign c/")
        // A resume in force counts as others do: it decides also where a shorter prefix is cancelled.
        for (now, fate) in [(1_000, .goesOn), (2_999, .goesOn), (3_000, cancelled)] as [(Int64, CampaignIndex.Fate)] {
            let paused = CampaignIndex.Fate.paused(until: nil)
            let fates = [
                ("c/1", fate), ("c/a1", paused), ("d/1", paused), ("e/1", .goesOn),
                ("f/1", now < 3_000 ? .goesOn : paused),
            ]
            for (reference, fate) in fates {
                let bytes = Array(reference.utf8)
                #expect(state.campaigns(at: now).fate(of: bytes.span, at: now) == fate, "\(reference) \(now)")
            }
        }
        #expect(state.inForce(at: 1_000).map(\.action) == [.pause, .pause, .resume, .resume, .cancel, .resume])
        #expect(state.inForce(at: 3_000).map(\.action) == [.cancel, .pause, .pause, .cancel, .pause])
    }

    @Test("The index finds what a plain search finds", arguments: 0..<20 as Range<UInt64>)
    func searched(seed: UInt64) {
        var seed = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        func text(_ longest: Int) -> String {
            String((0...random(longest)).map { _ in Character(["a", "b", "ü"][random(3)]) })
        }
        var state = ControlState()
        var plain: [String: Int64] = [:]
        for _ in 0..<30 {
            let (prefix, until) = (text(5), Int64(1_000 + random(2_000)))
            plain[prefix] = until
            state.apply(command(.pause, .campaign(prefix), until: until), at: 0)
        }
        for _ in 0..<300 {
            let (reference, now) = (text(7), Int64(1_000 + random(2_000)))
            let matching = plain.filter { $0.value > now && Array(reference.utf8).starts(with: $0.key.utf8) }
            let longest = matching.max { $0.key.utf8.count < $1.key.utf8.count }
            #expect(fate(reference, state, at: now) == longest.map { .paused(until: $0.value) } ?? .goesOn)
        }
    }
}
