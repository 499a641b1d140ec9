import ArgumentParser
import PushWorker
import Rig
import Topology

/// `martlet route`: asks all workers to pause, resume, pace or trust a route.
struct RouteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "route",
        abstract: "Pause, resume, pace or trust a route in all workers at once.",
        discussion: """
            The command goes into the stream \(TopologyNames.controlQueue), which every worker reads, those that start \
            later, too. Of two commands about one route the later one stands. A pause or rate without --for or --until \
            stands until it is taken back. The broker may drop it after 30 days.

            The user apns-operator may do this. martlet control lists what stands.

            Examples:
              martlet route pause shop --for 2h --reason "APNs trouble"
              martlet route resume shop --for 10m
              martlet route resume shop
              martlet route rate shop 500/s --until 2030-01-01T06:00:00Z
              martlet route rate shop off
            """,
        subcommands: [Pause.self, Resume.self, Rate.self, Trust.self])

    /// `martlet route pause`.
    struct Pause: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Let a route's jobs wait in their queue, in every worker.",
            discussion: "Requests that APNs has already are finished. Other routes go on.")

        @Argument(help: "The route, as the workers' configuration names it.") var route: String
        @OptionGroup var end: ControlEnd
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            try RouteCommand.publish(.pause, route, end, options)
        }
    }

    /// `martlet route resume`.
    struct Resume: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "End the pause of a route, or interrupt it.",
            discussion: """
                With --for or --until the route goes on until then only: after that the pause stands again, unless it \
                is over itself. So you can try whether all is well.
                """)

        @Argument(help: "The route, as the workers' configuration names it.") var route: String
        @OptionGroup var end: ControlEnd
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            try RouteCommand.publish(.resume, route, end, options)
        }
    }

    /// `martlet route rate`.
    struct Rate: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Hold a route to a rate: all workers together send no more than that.",
            discussion: "Each worker takes its share of the rate. A worker's own limit, routes[].rate, still holds.")

        @Argument(help: "The route, as the workers' configuration names it.") var route: String
        @Argument(help: "Notifications a second for the whole fleet, 0.001/s or more, as 500/s; or off.")
        var rate: RateArgument
        @OptionGroup var end: ControlEnd
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func validate() throws {
            if rate.perSecond == nil, end.duration != nil || end.until != nil {
                throw ValidationError("off ends an earlier rate for good: it takes neither --for nor --until.")
            }
        }

        func run() throws {
            try RouteCommand.publish(.rate, route, end, options, perSecond: rate.perSecond)
        }
    }

    /// `martlet route trust`.
    struct Trust: ParsableCommand, UsesContext {
        static let configuration = CommandConfiguration(
            abstract: "Let results say drop_token again, although many device tokens of the route are dead.",
            discussion: """
                Results say hold while APNs suddenly refuses most device tokens of a route. First make sure that the \
                route's environment and topics are right: who deletes device tokens of the wrong environment loses \
                them. It works at once and does not last: the guard may say hold again later.
                """)

        @Argument(help: "The route, as the workers' configuration names it.") var route: String
        @OptionGroup var options: ControlOptions

        var namedBroker: String? { options.broker.broker }
        var namedConfiguration: String? { options.config }

        func run() throws {
            try RouteCommand.publish(.trust, route, nil, options)
        }
    }

    private static func publish(
        _ action: ControlCommand.Action, _ route: String, _ end: ControlEnd?, _ options: ControlOptions,
        perSecond: Double? = nil
    ) throws {
        let request = ControlRequest(
            action: action, target: .route(route), author: options.signature, reason: options.reason,
            until: end?.milliseconds(now: JobIdentifier.now()), perSecond: perSecond)
        try ControlPublishing(options: options).run(request, isCertain: true)
    }
}
