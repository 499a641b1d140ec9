/// Decides how long each step to a silent broker may take: to connect, to agree to TLS, to log in. Pure.
///
/// A broker that is still booting takes connections and does not answer on them. An attempt that waits for it must not
/// cost more than the next step of the back-off would: the worker would come back later than the broker. A broker that
/// takes long for its first word has to be reached as well. So every fourth attempt after a silence has the time that the
/// URI allows (`connection_timeout`, 10 s by default). A broker that has said anything always has that time.
struct StepPatience {
    /// The limit while no broker was silent.
    static let firstLimit = Duration.seconds(2)
    /// The limit of most attempts after a silence: the longest step of the back-off.
    static let usualLimit = Backoff.broker.cap
    /// Which attempts after a silence have all the time that the URI allows.
    private static let period = 4

    /// How many attempts were silent since a connection was opened.
    private var silences = 0

    /// How long each step may take.
    ///
    /// - Parameter most: The limit of the URI.
    func limit(_ most: Duration) -> Duration {
        guard silences > 0 else { return min(Self.firstLimit, most) }
        return silences % Self.period == Self.period - 1 ? most : min(Self.usualLimit, most)
    }

    /// An attempt to reach any of the brokers is over, and one of them did not answer in time.
    mutating func ranOut() { silences += 1 }

    /// A connection is open.
    mutating func opened() { silences = 0 }
}
