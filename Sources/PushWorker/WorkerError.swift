/// Why a worker could not be put together from a configuration that reads well; always a matter for a person.
package struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what to do.
    package let message: String

    package var description: String { message }
}
