import Text

// The time before which a job is not sent.
extension JobReader {
    /// The moment before which the job is not sent.
    mutating func readNotBefore() {
        let written =
            if let value = headers.notBefore {
                time(value, HeaderName.notBefore, .badNotBefore)
            } else {
                time(envelope.notBefore, .notBefore, .badNotBefore)
            }
        job.notBefore = written?.milliseconds
    }

    /// Refuses a job that would wait for longer than `Job.longestWait`, or whose time is over before it begins.
    ///
    /// - Parameters:
    ///   - notBefore: Milliseconds since 1970.
    ///   - now: The same, for the present.
    mutating func checkNotBefore(_ notBefore: Int64, now: Int64) {
        // A worker let the original of a copy in. A clock that was set back since then must not end its wait.
        if !headers.isCopy, notBefore - now > Job.longestWait {
            let days = Job.longestWait / 86_400_000
            return failNotBefore(notBefore, "more than \(days) days from now; publish the job later")
        }
        guard let expiry = job.expiry, expiry <= notBefore else { return }
        let name: StaticString = job.deadline == expiry ? JobField.deadline.name : JobField.expiration.name
        failNotBefore(notBefore, "and its \(name) is \(DateTime.write(expiry)): leave time between the two")
    }

    private mutating func failNotBefore(_ notBefore: Int64, _ why: String) {
        let place = headers.notBefore == nil ? "\(JobField.notBefore)" : "the header \(HeaderName.notBefore)"
        fail(.badNotBefore, "\(place) is read as \(DateTime.write(notBefore)), \(why)")
    }
}
