import BrokerClient
import Dispatch
import EventLoop
import RabbitMQ
import Synchronization
import WorkerSettings

/// Finds the addresses of all brokers on a thread of its own, because name services and file systems may hang.
enum BrokerSearch {
    /// Looks one broker up, and reads its files; may block.
    typealias Find = @Sendable (AMQPEndpoint) throws(AMQPError) -> [BrokerTarget]

    /// The error of a search that took longer than `BlockingCall.patience`.
    static let timeout = AMQPError(.unresolved, "looking the brokers up took longer than \(BlockingCall.patience)")

    /// Starts a search.
    ///
    /// - Parameters:
    ///   - broker: Where the brokers are.
    ///   - channels: The least number of channels to ask for on a connection.
    ///   - find: Looks one broker up.
    ///   - deliver: Called exactly once, whenever the system answers. A success has the addresses, in random order of
    ///     the brokers.
    static func start(
        _ broker: BrokerConfiguration, channels: Int = 0, find: @escaping Find = { try BrokerTarget.find($0) },
        deliver: @escaping @Sendable (Result<[BrokerTarget], AMQPError>) -> Void
    ) {
        BlockingCall.start(name: "martlet-amqp") {
            findAll(broker, channels: channels, find)
        } deliver: { result in
            switch result {
            case .success(let found): deliver(found)
            case .failure(let error): deliver(.failure(AMQPError(.unresolved, error.message)))
            }
        }
    }

    /// Waits for a search, for threads that may block.
    ///
    /// - Parameters:
    ///   - broker: Where the brokers are.
    ///   - step: The longest wait before `isWanted` is asked again.
    ///   - patience: How long the search may take.
    ///   - find: Looks one broker up.
    ///   - isWanted: Whether to wait on.
    /// - Returns: The addresses, in random order of the brokers; never empty.
    /// - Throws: `AMQPError` if no broker has an address, if the search takes too long, or if `isWanted` says no.
    static func targets(
        of broker: BrokerConfiguration, step: Duration, patience: Duration = BlockingCall.patience,
        find: @escaping Find = { try BrokerTarget.find($0) }, while isWanted: () -> Bool
    ) throws(AMQPError) -> [BrokerTarget] {
        let answer = Answer()
        start(broker, find: find) { answer.arrived($0) }
        let end = MonotonicTime.now().adding(patience)
        while isWanted() {
            if let result = answer.wait(step) { return try result.get() }
            guard MonotonicTime.now() < end else { throw timeout }
        }
        throw AMQPError(.unresolved, "the brokers are not looked for any more")
    }

    /// Passes the result from the search's thread to the thread that waits for it.
    private final class Answer: Sendable {
        private let result = Mutex<Result<[BrokerTarget], AMQPError>?>(nil)
        private let arrival = DispatchSemaphore(value: 0)

        func arrived(_ result: Result<[BrokerTarget], AMQPError>) {
            self.result.withLock { $0 = result }
            arrival.signal()
        }

        /// Nil if nothing has arrived in that time.
        func wait(_ time: Duration) -> Result<[BrokerTarget], AMQPError>? {
            _ = arrival.wait(timeout: .now() + .nanoseconds(Int(time.clampedNanoseconds)))
            return result.withLock(\.self)
        }
    }

    private static func findAll(
        _ broker: BrokerConfiguration, channels: Int, _ find: Find
    ) -> Result<[BrokerTarget], AMQPError> {
        var failure = AMQPError(.invalidURI, "no broker is configured")
        var targets: [BrokerTarget] = []
        do throws(AMQPError) {
            for var endpoint in try broker.endpoints().shuffled() {
                endpoint.channelMax = max(endpoint.channelMax, channels)
                // A broker with an unknown name does not keep the others from being tried.
                do throws(AMQPError) { targets += try find(endpoint) } catch { failure = error }
            }
        } catch {
            failure = error
        }
        return targets.isEmpty ? .failure(failure) : .success(targets)
    }
}
