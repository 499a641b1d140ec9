/// Something that needs a person: what, where, why, and what to do next.
struct StatusFinding: Equatable {
    /// How soon a finding needs a person. The list of findings has this order.
    enum Urgency: String, Comparable, CaseIterable {
        /// Pushes stand still, or will soon.
        case now
        /// Pushes go out, but something is not as it should be.
        case soon

        static func < (one: Urgency, other: Urgency) -> Bool { one == .now && other == .soon }
    }

    /// How soon the finding needs a person.
    var urgency: Urgency
    /// The subject, such as `queue apns.q.jobs.shop`.
    var object: String
    /// What was found, and why it matters; without the object.
    var detail: String
    /// What to do next: a command where there is one.
    var next: String
}
