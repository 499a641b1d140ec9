/// One thing that is wrong with a job or one of its device tokens.
package struct Defect: Sendable, Equatable {
    /// The reason as results spell it.
    package var reason: Reason
    /// A sentence a person can act on; never holds a device token or payload.
    package var detail: String
}
