import Synchronization

/// Tells a blocking call to end early: it has to look, as cancelling a task does not reach it.
package final class StopSign: Sendable {
    private let value = Atomic<Bool>(false)

    /// A sign that is not raised.
    package init() {}

    /// Whether it was raised.
    package var isRaised: Bool { value.load(ordering: .acquiring) }

    /// Raises it for good.
    package func raise() { value.store(true, ordering: .releasing) }
}
