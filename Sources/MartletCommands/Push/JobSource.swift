/// Where the jobs of one run come from.
enum JobSource {
    /// One job, from flags.
    case one(OutgoingJob)
    /// Many jobs, from the lines of a file.
    case lines(LineReader, JobLine)
}
