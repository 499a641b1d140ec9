/// What kept a run from going on.
struct FaultFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
