// How the job's results are to come.
extension JobReader {
    /// Reads whether results are to come several in a message: the header first, then the body.
    mutating func readResults() {
        let wish =
            headers.results.flatMap { headerText($0, HeaderName.results, .badResults) }
            ?? string(envelope.results, .results)
        guard let wish else { return }
        job.wantsBatches = job.bytes.span.extracting(wish).matches(MessageName.batch)
        if !job.wantsBatches { fail(.badResults, "\(JobField.results) must be \(MessageName.batch), or left out") }
    }
}
