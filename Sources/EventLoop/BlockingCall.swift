import Synchronization

/// Makes calls that may hang in the system, such as name look-ups and reading files, each on a thread of its own.
///
/// Such a call cannot be ended: getaddrinfo(3) and a read from a network file system have no time limit, and a thread
/// inside them must not be cancelled. The caller forgets a call that takes longer than `patience` and ignores its late
/// result. The call's thread stays until the system answers, so the number of such threads has a limit.
package enum BlockingCall {
    /// After how long a caller should forget a call and start another one.
    package static let patience = Duration.seconds(60)
    /// The most calls of this process that may wait for the system at once, on threads that are started for them.
    ///
    /// A healthy system answers in milliseconds, so only calls that hang come near this limit. Each call holds a thread
    /// and `stackSize` bytes of address space: 32 MiB for all of them.
    package static let mostAtOnce = 64
    /// Bytes of stack of a call's thread. The system's resolver works on the heap and needs less than a quarter of
    /// them.
    package static let stackSize = 512 << 10

    /// Counts the calls that have not ended.
    package final class Places: Sendable {
        /// The places that `start` uses by default.
        package static let ofProcess = Places(BlockingCall.mostAtOnce)

        /// How many calls may go on at once.
        let limit: Int
        private let taken = Mutex(0)

        /// Makes places that are all free.
        ///
        /// - Parameter limit: How many.
        package init(_ limit: Int) {
            self.limit = limit
        }

        /// Takes a place.
        ///
        /// - Returns: Whether there was one left; give it back with `leave()`.
        func enter() -> Bool {
            taken.withLock { taken in
                guard taken < limit else { return false }
                taken += 1
                return true
            }
        }

        /// Gives a place back.
        func leave() {
            taken.withLock { $0 -= 1 }
        }

        /// Makes a call that may hang on the caller's own thread.
        ///
        /// - Parameter work: The call; may block.
        /// - Returns: What it returns.
        /// - Throws: The call's error, or an error at once where no place is left.
        package func hold<Value>(_ work: () throws(EventLoopError) -> Value) throws(EventLoopError) -> Value {
            guard enter() else { throw BlockingCall.crowded(limit: limit) }
            defer { leave() }
            return try work()
        }
    }

    /// Makes a call on a thread of its own.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers; the system keeps its first 15 bytes.
    ///   - places: Where the call is counted; only tests use other places than those of the process.
    ///   - stackSize: Bytes of the thread's stack; only tests use another size.
    ///   - work: The call; may block.
    ///   - deliver: Called exactly once. With the call's result or error on the call's thread, when the call ends. Or
    ///     with an error before `start` returns, if no place is left or the system has no room for a thread.
    package static func start<Value>(
        name: String, places: Places = .ofProcess, stackSize: Int = BlockingCall.stackSize,
        _ work: @escaping @Sendable () throws(EventLoopError) -> Value,
        deliver: @escaping @Sendable (Result<Value, EventLoopError>) -> Void
    ) {
        guard places.enter() else { return deliver(.failure(crowded(limit: places.limit))) }
        do throws(EventLoopError) {
            // Not joined: a thread that nobody joins cleans up after itself.
            _ = try LoopThread.start(name: name, stackSize: stackSize) {
                let result: Result<Value, EventLoopError>
                do throws(EventLoopError) {
                    result = .success(try work())
                } catch {
                    result = .failure(error)
                }
                // Leave first: the receiver of the result may make the next call at once.
                places.leave()
                deliver(result)
            }
        } catch {
            places.leave()
            deliver(.failure(error))
        }
    }

    private static func crowded(limit: Int) -> EventLoopError {
        EventLoopError(
            .resolutionFailed,
            message: "no name is looked up and no file read: \(limit) calls wait for the system already; "
                + "check the name servers in /etc/resolv.conf, and the disks",
            isRetriable: true)
    }
}
