/// Decides how long each step to a silent broker may take: to connect, to agree to TLS, to log in. Pure.
///
/// - A broker that is still booting takes connections and never answers on them. So an attempt must not wait long.
/// - A broker that a thousand clients log in to at once answers each of them late. An attempt that is given up half way
///   costs such a broker the same work again.
///
/// So the limit doubles with each attempt that met silence, up to the limit of the URI (`connection_timeout`, 10 s by
/// default). A worker comes back late only after it was away for long. A broker that has said anything always has the
/// limit of the URI.
struct StepPatience {
    /// The limit while no broker was silent.
    static let firstLimit = Duration.seconds(2)
    /// How often the limit doubles at most; far beyond any `connection_timeout`.
    private static let mostDoublings = 10

    /// How many attempts were silent since a connection was opened.
    private var silences = 0

    /// How long each step may take.
    ///
    /// - Parameter most: The limit of the URI.
    func limit(_ most: Duration) -> Duration {
        min(Self.firstLimit * (1 << min(silences, Self.mostDoublings)), most)
    }

    /// An attempt to reach any of the brokers is over, and one of them did not answer in time.
    mutating func ranOut() { silences += 1 }

    /// A connection is open.
    mutating func opened() { silences = 0 }
}
