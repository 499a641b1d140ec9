import Glibc
import Text

/// A line on a terminal that shows how long a silent piece of work has taken so far.
enum DemoPulse {
    /// How often the line changes.
    static let interval = Duration.milliseconds(200)

    /// Shows the line during some work, and removes it afterwards. Without a terminal it only does the work.
    ///
    /// - Parameters:
    ///   - what: What is under way.
    ///   - body: Does it.
    /// - Returns: What `body` returns.
    static func show<Value: Sendable>(
        _ what: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard Console.isTerminal(STDERR_FILENO) else { return try await body() }
        let began = ContinuousClock.now
        let pulse = Task {
            while !Task.isCancelled {
                Console.redraw(line(what, after: began.duration(to: .now)))
                try? await Task.sleep(for: interval)
            }
        }
        do {
            let value = try await body()
            await end(pulse)
            return value
        } catch {
            await end(pulse)
            throw error
        }
    }

    /// The line.
    ///
    /// - Parameters:
    ///   - what: What is under way.
    ///   - elapsed: For how long.
    static func line(_ what: String, after elapsed: Duration) -> String {
        "  \(what): \(TimeText.length(elapsed.wholeMilliseconds / 100 * 100))"
    }

    private static func end(_ pulse: Task<Void, Never>) async {
        pulse.cancel()
        // The task may still be drawing.
        await pulse.value
        Console.redraw("")
    }
}
