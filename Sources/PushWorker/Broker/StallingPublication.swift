/// A publication as `RefusedPublications`, `ChannelTrials` and `PublishWindow` need it.
///
/// A class, because the same object goes out again.
protocol StallingPublication: AnyObject {
    /// The position on the lane of the route it belongs to.
    var route: Int { get }
    /// Its exchange; nil for a reply, because replies are not tried again.
    var destination: Publication.Destination? { get }
    /// Whether it is in a line of `RefusedPublications`, waiting or out.
    var isInLine: Bool { get set }
    /// How often it was unconfirmed when the broker closed the channel.
    var closings: Int { get set }
}
