internal import CLinux
internal import Glibc
internal import Synchronization

/// An operating-system thread of one's own, for a loop or for a call that blocks.
package struct LoopThread: Sendable {
    /// Carries the body to the thread.
    // Made by one thread, taken apart by the other, and never touched in between.
    private final class Start: @unchecked Sendable {
        let name: String
        let body: () -> Void
        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// A thread may be joined once; the first caller does, later ones return at once.
    private final class Handle: Sendable {
        let thread: Mutex<pthread_t?>
        init(_ thread: pthread_t) { self.thread = Mutex(thread) }
    }

    private let handle: Handle

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: At most 15 bytes are shown by tools.
    ///   - stackSize: Bytes of address space; the default survives rabbitmq-c's recursive decoding of hostile headers.
    ///   - body: Runs on the thread; the thread ends with it.
    /// - Throws: `EventLoopError` when the system has no thread left.
    package static func start(
        name: String, stackSize: Int = 64 << 20, _ body: sending @escaping () -> Void
    ) throws(EventLoopError) -> LoopThread {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                clinux_name_thread(String(start.name.prefix(15)))
                start.body()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw EventLoopError(.systemCall, "pthread_create", errno: status)
        }
        return LoopThread(handle: Handle(thread))
    }

    /// Waits for the thread's end.
    package func join() {
        guard let thread = handle.thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }

    /// Lets the thread clean up after itself; nobody may join it then.
    package func detach() {
        guard let thread = handle.thread.withLock({ $0.take() }) else { return }
        pthread_detach(thread)
    }
}
