import EventLoop
import Rig
import Text

/// A replay under way: publishes jobs, and removes each letter once its job is confirmed.
struct DeadReplayRun {
    private let link: CommandConnection
    private var pacer: Pacer?
    private var progress = ProgressLine(enabled: true)
    /// The most letters by which one that came twice is recognised. Beyond, the earlier ones are forgotten.
    private static let mostRemembered = 1_000_000

    /// Letters whose jobs are not confirmed yet, by the number of each job's message.
    private var waiting: [UInt64: (letter: BrokerMessage, identity: LetterIdentity?)] = [:]
    /// The letters whose jobs are confirmed, or would have been published.
    private var replayed: Set<LetterIdentity> = []
    /// How many letters were another copy of one of these.
    private var copies = 0
    /// The ids of the jobs that are not confirmed yet. They must differ: the broker's answer names nothing but the id.
    private var ids: Set<String> = []
    private var skipped: [(obstacle: ReplayedJob.Obstacle, count: Int)] = []
    /// How many jobs were published, or may have been.
    private(set) var published = 0
    /// How many letters are done: their jobs are confirmed, or would have been published.
    private(set) var done = 0
    /// How many jobs the broker did not take. Their letters stay.
    private(set) var refused = 0

    /// Starts a replay.
    ///
    /// - Parameters:
    ///   - link: The connection that takes the letters.
    ///   - pacer: Spreads the jobs over time; nil for as fast as they go.
    init(link: CommandConnection, pacer: Pacer?) {
        self.link = link
        self.pacer = pacer
    }

    /// Why letters stay, a line for each of the first 20 reasons; and how many came twice.
    var remarks: [String] {
        skipped.map { "\(TimeText.count($0.count)) \($0.obstacle.explanation)" }
            + (copies > 0 ? ["\(TimeText.count(copies)) had come twice: their jobs are published once"] : [])
    }

    /// Notes that a letter stays.
    mutating func skip(_ obstacle: ReplayedJob.Obstacle) {
        if let position = skipped.firstIndex(where: { $0.obstacle == obstacle }) {
            skipped[position].count += 1
        } else if skipped.count < 20 {
            skipped.append((obstacle, 1))
        }
    }

    /// Notes and prints that a letter would be replayed.
    mutating func note(wouldPublish letter: DeadLetter) {
        let identity = LetterIdentity(letter)
        guard !isCopy(identity) else {
            copies += 1
            return
        }
        published += 1
        done += 1
        remember(identity)
        Console.data(letter.line)
    }

    private func isCopy(_ identity: LetterIdentity?) -> Bool { identity.map(replayed.contains) ?? false }

    private mutating func remember(_ identity: LetterIdentity?) {
        guard let identity else { return }
        if replayed.count >= Self.mostRemembered { replayed.removeAll() }
        replayed.insert(identity)
    }

    /// Publishes the job of a letter. Another copy of a letter whose job is confirmed is only removed.
    mutating func publish(_ job: ReplayedJob, of letter: DeadLetter) throws(CommandFailure) {
        // Two letters of one multicast job have one id, and so have two copies of one letter. Whether the first copy's
        // job was taken must be known.
        if ids.contains(job.messageID) { try awaitConfirms() }
        let identity = LetterIdentity(letter)
        if isCopy(identity) {
            try link.acknowledge(letter.message, upToHere: false)
            copies += 1
            return
        }
        if let wait = pacer?.wait(now: .now()), wait > .zero {
            var fates: [PublishFate] = []
            try link.pause(wait) { fates.append($0) }
            try settle(fates)
        }
        var fates: [PublishFate] = []
        // Counted before the job is sent: a failure half way does not tell whether it was sent.
        published += 1
        let number = try link.submit(job.message, routingKey: job.routingKey) { fates.append($0) }
        waiting[number] = (letter.message.withoutContent, identity)
        ids.insert(job.messageID)
        try settle(fates)
        progress.show("\(TimeText.count(done)) replayed")
    }

    /// Waits for the missing confirms, and until the broker has removed the letters.
    mutating func finish() throws(CommandFailure) {
        try awaitConfirms()
        progress.clear()
        try link.stopConsuming()
    }

    /// Ends the replay without waiting for confirms.
    mutating func abandon() { progress.clear() }

    private mutating func awaitConfirms() throws(CommandFailure) {
        var fates: [PublishFate] = []
        try link.finishPublishing { fates.append($0) }
        try settle(fates)
    }

    private mutating func settle(_ fates: [PublishFate]) throws(CommandFailure) {
        for fate in fates {
            guard let (letter, identity) = waiting.removeValue(forKey: fate.number) else { continue }
            ids.remove(fate.messageID)
            guard fate.kind == .confirmed else {
                refused += 1
                progress.interrupt("not replayed  \(fate.messageID)  \(fate.kind.explanation)")
                continue
            }
            try link.acknowledge(letter, upToHere: false)
            remember(identity)
            done += 1
        }
    }
}
