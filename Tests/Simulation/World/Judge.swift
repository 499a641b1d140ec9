import APNSClient
import Text
import WorkerSettings

@testable import APNSSimulator
@testable import PushWorker

/// Says what must not be, once all is over.
struct Judge {
    /// How long a request may be under way, in milliseconds.
    private static let flight: Int64 = 200
    /// A worker consumes on one connection to the broker and publishes on another. A third may be on its way out.
    private static let brokerConnections = 3

    /// For jobs, for retries, and for `high` jobs.
    private static let queuesOfRoute = 3

    let world: World
    let jobs: Jobs
    /// The most attempts of a notification.
    let mostAttempts: Int
    /// How many routes a worker has.
    let routes: Int

    /// Judges everything.
    ///
    /// - Throws: What was found first.
    func judge() throws(World.Finding) {
        for worker in world.workers { worker.judge() }
        try world.judge()
        guard jobs.open.isEmpty else {
            let some = jobs.open.sorted().prefix(5).map { "\($0) \(jobs.all[$0]?.missing.prefix(3) ?? [])" }
            throw World.Finding(
                description: "\(jobs.open.count) confirmed jobs have no result: \(some.joined(separator: ", "))")
        }
        if world.apns.violations > 0 {
            throw World.Finding(description: "a worker opened more streams than APNs allows")
        }
        if world.broker.mostUnconfirmed > PublishChannels.window {
            throw World.Finding(description: "\(world.broker.mostUnconfirmed) publications waited for their confirms")
        }
        let held = world.broker.mostHeld
        if held.deliveries > routes * Self.queuesOfRoute * RouteCredit.maximum {
            throw World.Finding(description: "a worker held \(held.deliveries) deliveries")
        }
        // A route has as many messages as have room at their average size. Where the sizes jump, what is on its way is
        // taken, too.
        if held.bytes > 2 * (world.memory ?? world.blueprint.configuration.jobMemory) {
            throw World.Finding(description: "a worker held jobs of \(held.bytes) bytes")
        }
        let most = routes * APNSPoolConfiguration.automaticMaximum + Self.brokerConnections
        for worker in world.workers where worker.cables.count > most {
            let cables = worker.cables.map(\.description).joined(separator: "; ")
            throw World.Finding(description: "\(worker.name) has too many connections at the end: \(cables)")
        }
        try judgeJobs(try acceptedPushes())
    }

    /// How often APNs accepted each device token. Judges the time of each push.
    private func acceptedPushes() throws(World.Finding) -> [String: Int] {
        var accepted: [String: Int] = [:]
        for push in world.apns.service.ledger.records() {
            guard let owner = jobs.owners[push.token], let job = jobs.all[owner.job] else {
                throw World.Finding(description: "a push of nobody: \(push)")
            }
            try judge(push.time, of: job)
            if push.status == 200 { accepted[push.token, default: 0] += 1 }
        }
        return accepted
    }

    /// Judges the time of a push. It may have been on its way for as long as a connection stands still, and the worker's
    /// calendar may have been wrong.
    private func judge(_ time: Int64, of job: Jobs.Job) throws(World.Finding) {
        let errors = world.time.errors
        func found(_ what: String) -> World.Finding {
            World.Finding(description: "\(job.id) was pushed \(what), at \((time - world.start) * 1_000) us")
        }
        if let notBefore = job.wish.notBefore, time < notBefore - errors.ahead {
            throw found("\(notBefore - time) ms before its time")
        }
        if let deadline = job.wish.deadline, time > deadline + Self.flight + errors.behind {
            throw found("\(time - deadline) ms after its deadline")
        }
        for hold in world.operators.holds where holds(hold, job) {
            guard time > hold.from + Self.flight, time < hold.to else { continue }
            throw found("\(time - hold.from) ms after \(hold.target) was held")
        }
    }

    /// Whether a hold concerns a job. What was pushed once before its campaign was held may be tried again.
    private func holds(_ hold: Operators.Hold, _ job: Jobs.Job) -> Bool {
        switch hold.target {
        case .route(let route): route == job.wish.route
        case .campaign(let campaign):
            job.wish.reference?.hasPrefix(campaign) == true && job.published > hold.from + Self.flight
        }
    }

    private func judgeJobs(_ accepted: [String: Int]) throws(World.Finding) {
        for (_, job) in jobs.all.sorted(by: { $0.value.published < $1.value.published }) where job.isConfirmed {
            for (index, token) in job.wish.tokens.enumerated() {
                try judge(job.results[index] ?? [], of: job, index, accepted: accepted[token] ?? 0)
            }
        }
    }

    /// Whether the results of a notification tell the truth.
    private func judge(
        _ results: [Jobs.Result], of job: Jobs.Job, _ index: Int, accepted: Int
    ) throws(World.Finding) {
        func found(_ what: String) -> World.Finding {
            World.Finding(description: "\(job.id)/\(index) \(what): \(results)")
        }
        for result in results {
            switch result.outcome {
            case "accepted" where accepted == 0: throw found("was never accepted by APNs")
            case "expired" where job.wish.deadline == nil: throw found("had no deadline")
            case "cancelled" where !isCancelled(job): throw found("was cancelled by nobody")
            default: break
            }
            if result.attempt > mostAttempts { throw found("was tried more often than allowed") }
        }
        // A worker that pushed a job for the second time may die, or lose it, before it says so. The first worker knows
        // the job when it comes again, and has reported it.
        let isUnreported = job.hasReturned && results.count < accepted
        if accepted > 1, !results.contains(where: \.isRedelivered), !isUnreported,
            job.wish.reportsUnknown || !results.contains(where: { $0.attempt > 1 })
        {
            throw found("was accepted \(accepted) times, and its results give no reason")
        }
        if job.wish.replyTo != nil, !job.replied.contains(index),
            !results.contains(where: { $0.detail.contains("reply") })
        {
            throw found("has no reply, and its results do not say so")
        }
    }

    private func isCancelled(_ job: Jobs.Job) -> Bool {
        world.operators.holds.contains { hold in
            guard hold.isCancelled, case .campaign(let campaign) = hold.target else { return false }
            return job.wish.reference?.hasPrefix(campaign) == true
        }
    }
}
