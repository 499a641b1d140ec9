import Dispatch
import EventLoop
import Glibc
import Logging
import Synchronization

/// The place where log lines go: a bounded queue, and one thread that writes it out.
///
/// Handing over a line never waits for the reader of the log. A reader who has stopped reading stalls only the thread.
/// Lines that find the queue full are dropped and counted. The process must ignore SIGPIPE.
package final class LogSink: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var bytes = 0
        var dropped: UInt64 = 0
        var handedOver: UInt64 = 0
        var finished: UInt64 = 0
        var isClosed = false
    }

    /// The most bytes that wait; some seconds of a busy worker's lines.
    static let defaultLimit = 1 << 20

    /// The least level of the lines that loggers make for it.
    package let threshold: LogThreshold
    private let descriptor: Int32
    private let limit: Int
    private let dropReport: @Sendable (UInt64) -> [UInt8]
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Starts the writing thread.
    ///
    /// - Parameters:
    ///   - descriptor: Where to write. The descriptor stays open and belongs to the caller.
    ///   - limit: The most bytes that wait.
    ///   - level: The least level of the lines.
    ///   - dropReport: Makes the line that says how many were dropped.
    /// - Throws: An error if the system starts no thread.
    init(
        descriptor: Int32, limit: Int = LogSink.defaultLimit, level: Logger.Level = .info,
        dropReport: @escaping @Sendable (UInt64) -> [UInt8]
    ) throws {
        self.descriptor = descriptor
        self.limit = limit
        threshold = LogThreshold(level)
        self.dropReport = dropReport
        _ = try LoopThread.start(name: "martlet-log", stackSize: 1 << 18) { [self] in writeOut() }
    }

    /// How many lines were dropped so far, or could not be written.
    package var droppedLines: UInt64 { state.withLock(\.dropped) }

    /// Takes a line. Drops it if the queue is full, or the sink is closed.
    package func write(_ line: [UInt8]) {
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.bytes + line.count <= limit else {
                state.dropped += 1
                return false
            }
            state.lines.append(line)
            state.bytes += line.count
            state.handedOver += 1
            return true
        }
        if isTaken { signal.signal() }
    }

    /// Waits until the thread is done with all lines taken so far. For the end of a program, not for the lane.
    ///
    /// - Parameter patience: The longest wait, in milliseconds.
    /// - Returns: Whether the thread is done with them. Lines that could not be written count as done.
    @discardableResult
    package func flush(patience: Int = 2000) -> Bool {
        let goal = state.withLock(\.handedOver)
        let end = MonotonicTime.now().adding(.milliseconds(patience))
        while state.withLock({ $0.finished < goal }) {
            guard MonotonicTime.now() < end else { return false }
            usleep(1000)
        }
        return true
    }

    /// Ends the writing thread after it has written the lines that it was given. Later lines are dropped.
    package func close() {
        state.withLock { $0.isClosed = true }
        signal.signal()
    }

    private func writeOut() {
        var reported: UInt64 = 0
        while true {
            signal.wait()
            let (lines, dropped, isClosed) = state.withLock { state in
                defer {
                    state.lines = []
                    state.bytes = 0
                }
                return (state.lines, state.dropped, state.isClosed)
            }
            var batch: [UInt8] = []
            for line in lines { batch += line }
            if dropped > reported { batch += dropReport(dropped - reported) }
            let isWritten = writeAll(batch)
            if isWritten { reported = dropped }
            state.withLock { state in
                state.finished += UInt64(lines.count)
                if !isWritten { state.dropped += UInt64(lines.count) }
            }
            if isClosed, lines.isEmpty { return }
            if isClosed { signal.signal() }
        }
    }

    /// Writes everything; false where the descriptor takes no more, for instance because the disk is full.
    private func writeAll(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count > 0 {
                offset += count
            } else if count < 0, errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, 1000)
            } else if count < 0, errno == EINTR {
                continue
            } else {
                // Another try at once would be a busy loop. The next batch may find room.
                return false
            }
        }
        return true
    }
}
