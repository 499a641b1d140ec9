/// Why a value was not accepted, without its place.
package struct Rejection: Error {
    /// What is wrong and what would be right.
    package let message: String

    /// Makes a rejection.
    package init(_ message: String) {
        self.message = message
    }
}
