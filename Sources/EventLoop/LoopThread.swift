import CLinux
import Glibc
import Synchronization

/// A thread of the operating system, for a lane's loop or for blocking work.
package struct LoopThread: Sendable {
    /// The handle of the thread. The thread is joined once, or detached if nobody has joined it.
    private final class Handle: Sendable {
        let thread: Mutex<pthread_t?>

        init(_ thread: pthread_t) {
            self.thread = Mutex(thread)
        }

        deinit {
            thread.withLock { thread in
                if let thread { pthread_detach(thread) }
            }
        }
    }

    /// Carries name and body across pthread_create(3).
    private final class Body {
        let name: String
        let run: () -> Void

        init(name: String, run: @escaping () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// The default stack of a thread, in bytes.
    package static let usualStackSize = 2 << 20

    private let handle: Handle

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers; the system keeps its first 15 bytes.
    ///   - stackSize: Bytes of stack. Only used pages take memory.
    ///   - body: What to run; the thread ends with it.
    /// - Returns: The running thread; letting it go does not end it.
    /// - Throws: `EventLoopError` when the system has no room for another thread.
    package static func start(
        name: String, stackSize: Int = usualStackSize, _ body: sending @escaping () -> Void
    ) throws(EventLoopError) -> LoopThread {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        let refused = pthread_attr_setstacksize(&attributes, stackSize)
        guard refused == 0 else { throw EventLoopError(.threadFailed, "stack of \(stackSize) bytes", errno: refused) }

        let parcel = Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                LoopThread.run(Unmanaged<Body>.fromOpaque(argument).takeRetainedValue())
                return nil
            }, parcel.toOpaque())
        guard failure == 0 else {
            parcel.release()
            throw EventLoopError(.threadFailed, "pthread_create for \(name)", errno: failure)
        }
        return LoopThread(handle: Handle(thread))
    }

    /// Waits until the thread has ended; any number of threads may wait, but not the thread itself.
    package func join() {
        // The lock is held while waiting, so that a second waiter returns only after the end as well.
        handle.thread.withLock { thread in
            guard let running = thread else { return }
            precondition(pthread_equal(running, pthread_self()) == 0, "join of a thread by itself")
            pthread_join(running, nil)
            thread = nil
        }
    }

    private static func run(_ body: Body) {
        clinux_name_thread(String(decoding: body.name.utf8.prefix(15), as: UTF8.self))
        body.run()
    }
}
