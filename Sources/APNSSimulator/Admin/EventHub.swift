import Synchronization

/// Sends events to the listeners of the admin API, as server-sent events. Safe from any thread.
///
/// A listener that reads too slowly loses its oldest events. It does not delay the other listeners, and the memory for
/// its events is limited.
/// See the [HTML standard](https://html.spec.whatwg.org/multipage/server-sent-events.html).
final class EventHub: Sendable {
    /// How many listeners there may be at a time. Each listener is a connection to the admin API.
    static let listenerLimit = 64
    /// How many events wait for a slow listener.
    static let waitingLimit = 512

    private struct State {
        var listeners: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// How many listeners there are.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Whether there is a listener. Without one, callers need not build events.
    var hasListeners: Bool { count > 0 }

    /// Starts to listen.
    ///
    /// - Returns: The events as text of the event stream; nil where ``listenerLimit`` is reached.
    func listen() -> AsyncStream<[UInt8]>? {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.waitingLimit))
        let number: Int? = state.withLock { state in
            guard state.listeners.count < Self.listenerLimit else { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else { return nil }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Tells all listeners.
    ///
    /// - Parameters:
    ///   - name: The event's name.
    ///   - value: Its data, written as JSON.
    func publish(_ name: String, _ value: some Encodable) {
        let text = Array("event: \(name)\ndata: ".utf8) + AdminJSON.bytes(of: value) + Array("\n\n".utf8)
        send(text)
    }

    /// Sends a comment to all listeners. It keeps open connections alive and reveals connections that are broken.
    func beat() { send(Array(": still here\n\n".utf8)) }

    /// Ends all listening.
    func close() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func send(_ text: [UInt8]) {
        // Yields outside the lock: the end of a listener takes the same lock.
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(text) }
    }
}
