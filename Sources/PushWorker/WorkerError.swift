/// Why a worker could not be made from a configuration that was read without errors. A person must act.
package struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, where, and what to do.
    package let message: String

    package var description: String { message }
}
