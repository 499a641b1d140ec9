import Synchronization

/// Tells a blocking call to end early. The call has to look at the sign, because a cancelled task does not interrupt
/// it.
package final class StopSign: Sendable {
    private let value = Atomic<Bool>(false)

    /// A sign that is not raised.
    package init() {}

    /// Whether it was raised.
    package var isRaised: Bool { value.load(ordering: .acquiring) }

    /// Raises it for good.
    package func raise() { value.store(true, ordering: .releasing) }
}
