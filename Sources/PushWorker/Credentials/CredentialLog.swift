import APNSClient
import Logging

/// What the log says about the credentials of the routes, and about the clock that dates provider tokens.
struct CredentialLog {
    private let logger: Logger

    /// The log of a lane.
    init(_ logger: Logger) { self.logger = logger }

    /// Logs that this machine's clock is so far from APNs' that provider tokens are in danger, or that it no longer is.
    ///
    /// - Parameters:
    ///   - skew: Seconds by which this machine's clock is ahead of APNs'.
    ///   - isWrong: Whether provider tokens are in danger.
    ///   - route: A route whose connections have seen APNs' clock.
    func clockCompared(_ skew: Int64, isWrong: Bool, by route: Route) {
        let metadata = Logger.Metadata.with([.route: "\(route.name)", .detail: "\(skew) s ahead of APNs"])
        if isWrong {
            logger.error(
                "this machine's clock is wrong: APNs refuses provider tokens that are an hour off", metadata: metadata)
        } else {
            logger.notice("this machine's clock agrees with APNs' again", metadata: metadata)
        }
    }

    /// A route begins without a credential, although its files can be used for other routes.
    func beginsUnfit(_ route: Route, credential: String, _ reason: String) {
        logger.error(
            "the route cannot use its credential: it is parked until the files are replaced",
            metadata: Self.metadata(route, credential, reason: reason))
    }

    /// A route cannot use a version that was just read.
    func isUnfit(_ route: Route, credential: String, _ reason: String) {
        logger.error(
            "the route cannot use the new credential, and goes on with the one before if there is one",
            metadata: Self.metadata(route, credential, reason: reason))
    }

    /// Logs what happened to a route's credential.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - credential: The credential's name.
    ///   - route: The route.
    ///   - isParked: Whether a refusal parks the route. Otherwise the route goes on with a newer version.
    func changed(_ event: CredentialEvent, _ credential: String, of route: Route, isParked: Bool) {
        switch event {
        case .tried(let version):
            logger.notice(
                "the new credential has a connection and is used from now on: the next answer of APNs proves it",
                metadata: Self.metadata(route, credential, version))
        case .switched(let version):
            logger.notice(
                "APNs accepts the new credential: it is used from now on",
                metadata: Self.metadata(route, credential, version))
        case .candidateRefused(let version, let reason):
            logger.error(
                "APNs refuses the new credential: the one before stays in use",
                metadata: Self.metadata(route, credential, version, reason: reason))
        case .retried(let version):
            logger.notice(
                "the credential in use is no longer good: the version that was refused before is tried again",
                metadata: Self.metadata(route, credential, version))
        case .doubted(let version, let reason):
            logger.warning(
                "APNs refused a credential that it had accepted on the same connection: a new connection asks again",
                metadata: Self.metadata(route, credential, version, reason: reason))
        case .refused(let version, let reason, _):
            logger.error(
                isParked
                    ? "APNs refuses the credential: the route is parked, and its connections are closed"
                    : "APNs refuses the credential: its new version is used without a proof",
                metadata: Self.metadata(route, credential, version, reason: reason))
        }
    }

    private static func metadata(
        _ route: Route, _ credential: String, _ version: Int? = nil, reason: String? = nil
    ) -> Logger.Metadata {
        var metadata = Logger.Metadata.with([.route: "\(route.name)", .credential: "\(credential)"])
        if let version { metadata[LogKey.version.rawValue] = "\(version)" }
        if let reason { metadata[LogKey.reason.rawValue] = "\(reason)" }
        return metadata
    }
}
