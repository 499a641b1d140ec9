import PushModel

/// Gathers the results of a route that go out several in a message, and decides when a batch is complete.
///
/// A batch is complete at the end of the turn, or when it has as many results or bytes as one message may have. So no
/// result waits for results of later turns. Under load, more results are ready in each turn. Pure: results in, batches
/// out.
struct ResultBatches {
    /// The most batches that gather results at the same time. Each job with replies has batches of its own.
    static let mostOpen = 64

    /// How many results the configuration wants in a message; 1 for batches only where a job asks for them.
    let size: Int
    /// Batches that gather results, in the order of their first ones.
    private var open: [ResultBatch] = []
    /// Batches that are complete.
    private var complete: [ResultBatch] = []

    /// No results.
    ///
    /// - Parameter size: How many results the configuration wants in a message, at least 1.
    init(size: Int) { self.size = size }

    /// Whether no result waits.
    var isEmpty: Bool { open.isEmpty && complete.isEmpty }

    /// The most results of a batch. A job that asks for batches gets the largest where the configuration wants none.
    private var limit: Int { size > 1 ? size : Job.maximumTokens }

    /// Whether a job's results are to be gathered. Results about broadcast channels are not: they are few, and may be
    /// long.
    ///
    /// A producer that awaits replies reads one result at a time unless its job says otherwise.
    func takes(_ job: borrowing Job) -> Bool {
        (size > 1 && job.replyTo == nil || job.wantsBatches) && job.operation == .push
    }

    /// Adds a result to the batch of its kind.
    ///
    /// - Parameters:
    ///   - report: The result.
    ///   - content: The contents of the result.
    ///   - job: The job that it belongs to.
    ///   - isReply: Whether it goes to the job's `reply_to`.
    ///   - origin: The part that all results of the route share.
    ///   - note: The number of the note in the journal that it waits for; nil for none.
    /// - Returns: False for a result that is too long for any batch.
    mutating func add(
        _ report: ResultReport, _ content: ResultContent, of job: JobInFlight, isReply: Bool, from origin: ResultOrigin,
        note: UInt64? = nil
    ) -> Bool {
        let outcome = report.final.outcome
        if let position = open.firstIndex(where: { $0.joins(outcome, of: job, isReply: isReply) }) {
            let isAdded = open[position].add(report, content, of: job, from: origin, note: note)
            if !isAdded || open[position].count >= limit { close(position) }
            if isAdded { return true }
        }
        let batch = ResultBatch(for: report, of: job, isReply: isReply, from: origin)
        guard batch.add(report, content, of: job, from: origin, note: note) else { return false }
        if open.count >= Self.mostOpen { close(0) }
        open.append(batch)
        return true
    }

    private mutating func close(_ position: Int) {
        let batch = open.remove(at: position)
        batch.close()
        complete.append(batch)
    }

    /// Takes out all batches, complete ones first.
    mutating func take() -> [ResultBatch] {
        guard !isEmpty else { return [] }
        for batch in open { batch.close() }
        defer {
            open.removeAll(keepingCapacity: true)
            complete.removeAll(keepingCapacity: true)
        }
        return complete + open
    }
}
