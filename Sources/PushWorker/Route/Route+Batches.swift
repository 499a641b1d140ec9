import EventLoop
import PushModel

// Results that go out several in a message, where the configuration or a job wants that.
extension Route {
    /// Publishes a result or a reply: at the end of the turn together with others, or as a message of its own.
    ///
    /// - Parameters:
    ///   - index: The notification's position in its job.
    ///   - content: What became of the notification.
    ///   - isReply: Whether it goes to the job's `reply_to`.
    ///   - job: The job, whose acknowledgement then waits for the message.
    ///   - note: The number of the note in the journal that it waits for; nil for none.
    func publish(_ index: Int, _ content: ResultContent, isReply: Bool, for job: JobInFlight, note: UInt64? = nil) {
        guard batches.takes(job.job),
            surroundings.publisher.add(
                index, content, of: job, isReply: isReply, to: &batches, of: position, note: note)
        else {
            return publish(
                isReply ? .reply(index: index, content) : .result(index: index, content), for: job, note: note)
        }
        job.owes()
        refused.published(for: job)
    }

    /// Queues the batches of this turn.
    func publishBatches() {
        guard !batches.isEmpty else { return }
        for batch in batches.take() { enqueue(batch, batch.isReply ? .exchange : nil) }
    }

    private func enqueue(_ batch: ResultBatch, _ way: ReplyWay?) {
        publications += 1
        surroundings.publisher.enqueue(
            Publication(job: batch.job, route: self, content: .batch(batch, way), note: batch.note))
    }

    /// The broker took a batch, or lost a batch of replies.
    func published(
        _ batch: ResultBatch, _ way: ReplyWay?, _ fate: ConfirmTracker<Publication>.Fate, at moment: Moment
    ) {
        if let way { replied(batch, way, fate) }
        for part in batch.parts {
            part.job.confirmed(part.count)
            refused.confirmed(for: part.job, part.count)
            if part.job.isFinished { finish(part.job, at: moment) }
        }
    }

    /// Publishes the results whose replies have met their fate, or the replies again by another way.
    private func replied(_ batch: ResultBatch, _ way: ReplyWay, _ fate: ConfirmTracker<Publication>.Fate) {
        let job = batch.job
        let bytes = job.job.bytes
        let step = way.step(
            after: fate, address: bytes.span.extracting(job.job.replyTo ?? 0..<0),
            mayWriteToQueues: surroundings.publisher.mayWriteToQueues)
        var loss: String?
        switch step {
        case .done: break
        case .tryQueue:
            job.owes(batch.count)
            refused.published(for: job, batch.count)
            return enqueue(batch, .queue)
        case .lost(let words):
            counters.repliesLost += batch.count
            loss = "the reply \(words)"
        }
        for (index, content) in batch.replied {
            var content = content
            if let loss { content.report.addDetail(loss) }
            publish(index, content, isReply: false, for: job)
        }
    }
}
