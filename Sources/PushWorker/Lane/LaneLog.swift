import Logging
import RabbitMQ

/// What the log says of a lane: its loop and clocks, its journal, and its connections to the broker.
struct LaneLog {
    /// What it says of the lane's routes.
    let routes: RouteLog
    /// What it says of their credentials.
    let credentials: CredentialLog
    private let logger: Logger

    /// The log of the lane.
    ///
    /// - Parameter logger: Takes the lines.
    init(_ logger: Logger) {
        self.logger = logger
        routes = RouteLog(logger)
        credentials = CredentialLog(logger)
    }

    /// The lane ends because its loop failed.
    func loopFailed(_ reason: String) {
        logger.critical("lane stopped: its loop failed", metadata: .with([.error: "\(reason)"]))
    }

    /// The clocks show that time did not pass as it should have.
    func clocksShow(_ event: ClockWatch.Event) {
        switch event {
        case .stood(let milliseconds):
            logger.error(
                "a lane stood still: its deliveries count as lost",
                metadata: .with([.duration: "\(milliseconds)"]))
        case .stepped(let milliseconds):
            logger.error(
                "this machine's clock was set: until it has stayed so for five minutes jobs expire by the earlier time",
                metadata: .with([
                    .detail: "by \(milliseconds) ms; new provider tokens carry the new time, check it"
                ]))
        case .settled:
            logger.notice("this machine's clock is believed again")
        }
    }

    /// The journal takes no notes any more, or takes some again.
    func journalChanged(_ event: JournalWriter.Event) {
        switch event {
        case .off(let reason):
            logger.error(
                "the journal is off: after a crash more will be pushed twice",
                metadata: .with([.error: "\(reason)"]))
        case .on: logger.notice("the journal is on again")
        }
    }

    // MARK: The broker

    /// A connection to the broker is up.
    ///
    /// - Parameters:
    ///   - role: What it is for.
    ///   - outage: The outage that is over; nil without one.
    func connected(_ role: BrokerLink.Role, after outage: OutageLog.Ended?) {
        var metadata = Logger.Metadata.with([.role: "\(role.rawValue)"])
        metadata[LogKey.detail.rawValue] = outage.map { .string($0.text) }
        logger.log(level: outage == nil ? .info : .notice, "connected to the broker", metadata: metadata)
    }

    /// There is no connection to the broker.
    func connectionLost(_ role: BrokerLink.Role, _ error: AMQPError, level: Logger.Level) {
        logger.log(
            level: level, "no connection to the broker",
            metadata: .with([.role: "\(role.rawValue)", .error: "\(error.message)"]))
    }

    /// An address leads to no broker, and the next address is tried. If the last address fails, too, the connection
    /// counts as lost.
    func addressFailed(_ role: BrokerLink.Role, _ error: AMQPError) {
        logger.warning(
            "an address of the broker does not work; the next is tried",
            metadata: .with([.role: "\(role.rawValue)", .error: "\(error.message)"]))
    }

    /// The broker says that it closes a connection.
    func connectionClosing(code: UInt16, text: String) {
        logger.warning("the broker closes the connection", metadata: .with([.code: "\(code)", .text: "\(text)"]))
    }

    /// The broker closed a channel for publishing.
    func publishChannelClosed(code: UInt16, text: String) {
        logger.warning("the broker closed a publish channel", metadata: .with([.code: "\(code)", .text: "\(text)"]))
    }

    /// The broker lacks memory or disk.
    func publishingBlocked(_ reason: String) {
        logger.warning("the broker takes no publications now", metadata: .with([.reason: "\(reason)"]))
    }

    /// The broker reads again.
    func publishingUnblocked() { logger.info("the broker takes publications again") }
}
