import Dispatch

/// Runs tasks on a thread of its own.
///
/// The blocking client blocks: on the shared pool, which has a thread per core, it would hold up every other test.
final class ThreadExecutor: TaskExecutor {
    // Serial queues get a thread whenever they need one, however many others are blocked.
    private let queue = DispatchQueue(label: "ring")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
