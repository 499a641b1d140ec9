import Dispatch
import EventLoop
import FoundationEssentials

/// Whether the system lets a worker have its threads.
///
/// If they cannot start a thread, some libraries end the process, and others hang. So the worker tries first. If a
/// thread is missing later, the worker logs that and goes on without it.
enum ThreadRoom {
    /// How many threads the worker needs at least. They are those of a lane and its helpers, the log's, Swift's first
    /// ones, and the admin server's, one for each processor.
    static var least: Int { 10 + ProcessInfo.processInfo.activeProcessorCount }

    /// Starts so many threads at once and ends them again.
    ///
    /// - Parameter count: How many.
    /// - Throws: `CommandFailure` when there is no room for all of them.
    static func check(_ count: Int = least) throws(CommandFailure) {
        let gate = DispatchSemaphore(value: 0)
        var threads: [LoopThread] = []
        defer {
            for _ in threads { gate.signal() }
            for thread in threads { thread.join() }
        }
        while threads.count < count {
            do throws(EventLoopError) {
                threads.append(try LoopThread.start(name: "martlet-room", stackSize: 1 << 18) { gate.wait() })
            } catch {
                throw CommandFailure(
                    .gaveUp,
                    "a worker needs \(count) threads beside its first, and the system allows \(threads.count): "
                        + error.message,
                    remedy: "Raise the limit: TasksMax= of a systemd unit, pids of a container, or ulimit -u.")
            }
        }
    }
}
