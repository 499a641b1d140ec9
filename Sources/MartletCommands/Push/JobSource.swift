/// Where the jobs of one run come from.
enum JobSource {
    /// From flags.
    case one(OutgoingJob)
    /// From lines.
    case lines(LineReader, JobLine)
}
