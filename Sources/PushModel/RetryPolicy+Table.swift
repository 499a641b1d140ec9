extension RetryPolicy {
    /// What is done about an attempt.
    package func settle(_ attempted: Attempted, job facts: AttemptFacts, now: Int64) -> Settlement {
        .resend
    }
}
