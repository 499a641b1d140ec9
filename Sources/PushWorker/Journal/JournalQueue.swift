import Dispatch
import EventLoop
import Synchronization
import Text

/// The notes on their way from a lane to the thread that writes them. The lane and the thread share nothing else.
///
/// Handing over copies the notes and never waits for the disk, so a disk that hangs stalls only the thread.
final class JournalQueue: Sendable {
    /// Most bytes that wait: 16,384 notes, half a mebibyte.
    ///
    /// A note is of use only until its job is acknowledged. The limit is above what a lane usually has unacknowledged.
    static let defaultLimit = 16_384 * JournalRecord.length

    /// How far the writing of the notes has come.
    struct Progress: Equatable {
        /// The number of the last note that was written or lost.
        var handled: UInt64 = 0
        /// How many were written.
        var written = 0
        /// How many were lost, because the disk failed or was too slow.
        var dropped = 0
        /// Why notes are lost now; nil while they are written.
        var trouble: String?
    }

    private struct State {
        var bytes: [UInt8] = []
        /// The number of the last note that was handed over.
        var last: UInt64 = 0
        var progress = Progress()
        var isClosed = false
    }

    private let limit: Int
    private let path: String
    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - limit: Most bytes that wait.
    ///   - path: Where the notes are to be written, for people.
    init(limit: Int = JournalQueue.defaultLimit, path: String) {
        self.limit = limit
        self.path = path
    }

    /// How far the writing has come now.
    var progress: Progress { state.withLock(\.progress) }

    /// Takes the notes of a turn. If they do not fit, the waiting notes are dropped: they are older, so their jobs are
    /// likelier to be acknowledged by now.
    ///
    /// - Parameters:
    ///   - bytes: Whole records.
    ///   - last: The number of the last note.
    func put(_ bytes: [UInt8], last: UInt64) {
        let wasEmpty = state.withLock { state in
            let wasEmpty = state.bytes.isEmpty
            let kept = bytes.suffix(limit)
            if state.bytes.count + bytes.count > limit {
                let lost = state.bytes.count + bytes.count - kept.count
                state.progress.dropped += lost / JournalRecord.length
                state.bytes.removeAll(keepingCapacity: true)
                let most = limit / JournalRecord.length
                state.progress.trouble =
                    state.progress.trouble ?? "\(path) is written too slowly: more than \(most) notes wait"
            }
            state.bytes += kept
            state.last = last
            return wasEmpty
        }
        if wasEmpty { work.signal() }
    }

    /// Counts notes as lost, because there is no thread to write them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - last: The number of the last note.
    ///   - trouble: The reason; nil to leave the reason as it is.
    func lose(_ count: Int, last: UInt64, trouble: String? = nil) {
        state.withLock { state in
            state.progress.dropped += count
            state.progress.handled = last
            state.progress.trouble = trouble ?? state.progress.trouble
        }
    }

    /// Lets the thread end after it has written everything that was handed over.
    func close() {
        state.withLock { $0.isClosed = true }
        work.signal()
    }

    /// Waits for the end of the thread.
    ///
    /// - Parameter patience: How long at most.
    /// - Returns: Whether it has ended.
    func awaitEnd(atMost patience: Duration) -> Bool {
        ended.wait(timeout: .now() + .milliseconds(Int(patience.wholeMilliseconds))) == .success
    }

    /// Writes the notes that are handed over, until the queue is closed. This is the body of the thread.
    ///
    /// - Parameters:
    ///   - file: The file to write to.
    ///   - pause: Called before each write; waits only in tests.
    ///   - wake: Called at the start, and after notes were written or lost here.
    func writeOut(to file: consuming JournalFile, pause: () -> Void, wake: () -> Void) {
        var batch: [UInt8] = []
        state.withLock { $0.progress.trouble = file.trouble }
        wake()
        while true {
            // There is one signal for each time that notes enter an empty buffer, and one for the end.
            work.wait()
            batch.removeAll(keepingCapacity: true)
            // The two buffers change places, so that neither is allocated again.
            let (last, isClosed) = state.withLock { state in
                swap(&state.bytes, &batch)
                return (state.last, state.isClosed)
            }
            if !batch.isEmpty {
                pause()
                let isWritten = file.append(batch, now: .now())
                finish(batch.count / JournalRecord.length, last: last, trouble: isWritten ? nil : file.trouble)
                wake()
            } else if isClosed {
                break
            }
        }
        ended.signal()
    }

    private func finish(_ count: Int, last: UInt64, trouble: String?) {
        state.withLock { state in
            state.progress.handled = last
            state.progress.trouble = trouble
            if trouble == nil { state.progress.written += count } else { state.progress.dropped += count }
        }
    }
}
