/// Hands a value that belongs to one thread at a time from a helper thread to a lane.
///
/// The maker keeps no reference and `take()` gives the value out once, so that it never belongs to two threads.
// The mailbox's mutex orders the maker's last access before the taker's first.
final class Transfer<Value>: @unchecked Sendable {
    private var value: Value?

    /// Wraps a value the maker no longer touches.
    init(_ value: consuming Value) { self.value = value }

    /// Gives the value out; nil the second time.
    func take() -> Value? {
        defer { value = nil }
        return value
    }
}
