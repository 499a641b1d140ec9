/// What a test could not do or did not see in time.
struct RingFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
