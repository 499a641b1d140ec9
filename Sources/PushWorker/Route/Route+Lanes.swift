import EventLoop
import PushModel

// The messages between the lanes of one route.
extension Route {
    /// The same route on another lane says something.
    func told(_ message: RouteMessage, at moment: Moment) {
        switch message {
        case .asked(let delivery, let isCopy):
            if deliveries.answer(delivery, isCopy: isCopy, at: moment) { channel.askForProof() }
        case .answered(let delivery, let isKnown):
            if let one = deliveries.answered(delivery, isKnown: isKnown) { arrivals.goOn(with: one, at: moment) }
        case .lent(let delivery, let job):
            if deliveries.takeLent(delivery, for: job) { arrivals.resume(job.job, at: moment) }
        case .settled(let delivery, let job, let fate): deliveries.takeBack(delivery, of: job, fate, at: moment)
        case .lost(let delivery, let job):
            guard job.job.lent == delivery else { return }
            job.job.losesLent()
            hosts.drop(job.job)
        case .credential(let news): credential.learn(news, at: moment)
        // The lane looks at the route in any case.
        case .suspectsChanged: break
        }
    }
}
