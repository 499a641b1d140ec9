/// How a worker knows what operators ask for.
package struct ControlStatus: Sendable, Equatable {
    /// Why the stream cannot be read now, for people; nil while it is read.
    package var trouble: String?
    /// How many commands are in force, also for routes that only other workers have.
    package var inForce: Int
    /// How many messages of the stream were not commands, since the worker's start.
    package var ignored: Int

    /// Makes a status from its parts.
    package init(trouble: String? = nil, inForce: Int = 0, ignored: Int = 0) {
        self.trouble = trouble
        self.inForce = inForce
        self.ignored = ignored
    }
}
