/// Something that needs a person: what, where, why, and what to do next.
struct StatusFinding: Equatable {
    /// How soon it needs one. The order is that of the list.
    enum Urgency: String, Comparable, CaseIterable {
        /// Pushes stand still, or will soon.
        case now
        /// Pushes go out, and something is not as it should be.
        case soon

        static func < (one: Urgency, other: Urgency) -> Bool { one == .now && other == .soon }
    }

    /// How soon it needs a person.
    var urgency: Urgency
    /// The subject, such as `queue apns.q.jobs.shop`.
    var object: String
    /// What is so, and why that matters; without the object.
    var detail: String
    /// What to do next: a command where there is one.
    var next: String
}
