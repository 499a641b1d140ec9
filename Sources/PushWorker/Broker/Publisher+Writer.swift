// The parts of the message writer that are needed before there is a publication.
extension Publisher {
    /// Learns which route has a position on the lane from now on.
    ///
    /// - Parameters:
    ///   - name: Its name; nil for the route that answers jobs nobody claims.
    ///   - position: The position, at most one behind the last.
    func setRoute(_ name: String?, at position: Int) { writer.renderer.setRoute(name, at: position) }

    /// Adds a result to the batches of its route, as the renderer would write it.
    ///
    /// - Parameters:
    ///   - index: The notification's position in its job.
    ///   - content: What became of the notification.
    ///   - job: The job.
    ///   - isReply: Whether it goes to the job's `reply_to`.
    ///   - batches: The batches of the route.
    ///   - route: The route's position on the lane.
    ///   - note: The number of the note in the journal that it waits for; nil for none.
    /// - Returns: False for a result that is too long for any batch.
    func add(
        _ index: Int, _ content: ResultContent, of job: JobInFlight, isReply: Bool, to batches: inout ResultBatches,
        of route: Int, note: UInt64?
    ) -> Bool {
        batches.add(
            writer.renderer.report(index, content, of: job), content, of: job, isReply: isReply,
            from: writer.renderer.origin(of: route), note: note)
    }
}
