package import LocalStack

extension ChildProcess {
    /// Waits until a server that was started listens on a port of 127.0.0.1.
    ///
    /// - Parameter port: The port.
    /// - Throws: `LocalStackError` if the server ends before that, or takes longer than a minute.
    package func awaitListening(on port: Int) throws(LocalStackError) {
        try awaitListening { Probe.answers(port: port) }
    }

    /// Waits until a server that was started listens, where no connection may be made to find that out.
    ///
    /// - Parameter listens: Whether it does.
    /// - Throws: `LocalStackError` if the server ends before that, or takes longer than a minute.
    package func awaitListening(_ listens: () -> Bool) throws(LocalStackError) {
        let deadline = ContinuousClock.now + .seconds(60)
        while !listens() {
            if let ending = wait(timeout: .milliseconds(20)) {
                throw LocalStackError(.programFailed, "a server ended before it listened (\(ending))")
            }
            guard ContinuousClock.now < deadline else {
                throw LocalStackError(.timedOut, "a server did not listen within a minute")
            }
        }
    }
}
