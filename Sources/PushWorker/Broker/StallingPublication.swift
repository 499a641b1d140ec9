/// What `RefusedPublications` and `ChannelTrials` need to know of a publication.
///
/// An object: the same one goes out again.
protocol StallingPublication: AnyObject {
    /// The position on the lane of the route it belongs to.
    var route: Int { get }
    /// Which exchange it goes to; nil for a reply: replies are not tried again.
    var destination: Publication.Destination? { get }
    /// Whether it belongs to a line of `RefusedPublications`: waiting in it, or out as one of its tries.
    var isInLine: Bool { get set }
    /// How often it was unconfirmed when the broker closed the channel.
    var closings: Int { get set }
}
