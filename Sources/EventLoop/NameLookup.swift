import Synchronization

/// Looks names up without blocking the caller: each look-up blocks a thread of its own.
///
/// A look-up cannot be ended: getaddrinfo(3) has no time limit, and a thread inside it must not be cancelled. The caller
/// forgets a look-up that takes longer than `patience` and ignores what it still delivers. Its thread stays until the
/// name service answers, so the number of such threads has a limit.
package enum NameLookup {
    /// After how long a caller should forget a look-up and start another one.
    package static let patience = Duration.seconds(60)
    /// Most look-ups of this process that may wait for the name service at once.
    ///
    /// A healthy name service answers in milliseconds, so only look-ups that hang come near it. Each holds a thread and
    /// `stackSize` of address space: 32 MiB for all of them.
    package static let mostAtOnce = 64
    /// Bytes of stack of a look-up's thread: the system's resolver works in its own heap and needs less than a quarter.
    package static let stackSize = 512 << 10

    /// Counts the look-ups that have not ended.
    package final class Places: Sendable {
        /// The places of this process, shared by everybody who does not count apart.
        package static let ofProcess = Places(NameLookup.mostAtOnce)

        /// How many look-ups may go on at once.
        let limit: Int
        private let taken = Mutex(0)

        /// Makes places that are all free.
        ///
        /// - Parameter limit: how many.
        package init(_ limit: Int) {
            self.limit = limit
        }

        /// Takes a place.
        ///
        /// - Returns: whether there was one left; give it back with `leave()`.
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
    }

    /// Looks a host's addresses up afresh.
    ///
    /// - Parameters:
    ///   - host: a name or a numeric address, with or without brackets. A numeric one needs no name service and no place.
    ///   - port: the port the addresses get.
    ///   - name: the thread's name for debuggers; the system keeps its first 15 bytes.
    ///   - places: where the look-up is counted; others than those of the process only in tests.
    ///   - stackSize: bytes of the thread's stack; others only in tests.
    ///   - resolve: looks the host up and may block; another one only in tests.
    ///   - deliver: called exactly once: with what was found on the look-up's thread, whenever that is; with an error
    ///     before `start` returns where no look-up was begun, because `places` has none left or the system has no room
    ///     for a thread.
    package static func start(
        host: String, port: Int, name: String, places: Places = .ofProcess, stackSize: Int = NameLookup.stackSize,
        resolve: @escaping @Sendable (String, Int) throws(EventLoopError) -> [SocketAddress] = Resolver.addresses,
        _ deliver: @escaping @Sendable (Result<[SocketAddress], EventLoopError>) -> Void
    ) {
        // A numeric address waits for nobody.
        let places = SocketAddress(host, port: port) == nil ? places : Places(1)
        run(name: name, places: places, stackSize: stackSize) { () throws(EventLoopError) in
            try resolve(host, port)
        } deliver: {
            deliver($0)
        }
    }

    /// Does what may hang in the system, such as look-ups and reading files, on a thread of its own.
    ///
    /// - Parameters:
    ///   - name: the thread's name for debuggers; the system keeps its first 15 bytes.
    ///   - places: where it is counted.
    ///   - stackSize: bytes of the thread's stack.
    ///   - work: what to do; may block.
    ///   - deliver: called exactly once, as `start` says.
    package static func run<Value>(
        name: String, places: Places = .ofProcess, stackSize: Int = NameLookup.stackSize,
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
                // Before the result is out: whoever gets it may start the next look-up at once.
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
            message: "no name is looked up: \(limit) look-ups wait for the name service already; "
                + "check the name servers in /etc/resolv.conf",
            isRetriable: true)
    }
}
