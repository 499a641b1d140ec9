/// What `martlet check` found, step by step.
struct CheckReport {
    /// How a step went.
    enum State: String {
        /// As it should be.
        case good = "ok"
        /// It works, but somebody should look at it.
        case warning
        /// It does not work.
        case failed
        /// It was not tried, because an earlier step failed or the user may not.
        case skipped
    }

    /// One step.
    struct Step {
        /// What was tried, in a few words.
        var name: String
        /// How it went.
        var state: State
        /// What was found.
        var detail: String
        /// What to do about it; a command where there is one.
        var remedy: String?
    }

    /// The steps in the order in which they were tried.
    private(set) var steps: [Step] = []
    /// The exit status: that of the first step that failed, else `ok`.
    private(set) var status = CommandStatus.ok

    /// Adds a step that went well.
    mutating func good(_ name: String, _ detail: String) {
        steps.append(Step(name: name, state: .good, detail: detail, remedy: nil))
    }

    /// Adds a step that works and needs attention.
    mutating func warn(_ name: String, _ detail: String, remedy: String? = nil) {
        steps.append(Step(name: name, state: .warning, detail: detail, remedy: remedy))
    }

    /// Adds a step that failed.
    ///
    /// - Parameters:
    ///   - name: What was tried.
    ///   - detail: What was found.
    ///   - remedy: What to do about it.
    ///   - failure: The exit status. Only that of the first failed step counts.
    mutating func fail(_ name: String, _ detail: String, remedy: String?, _ failure: CommandStatus) {
        steps.append(Step(name: name, state: .failed, detail: detail, remedy: remedy))
        if status == .ok { status = failure }
    }

    /// Adds a step that was not tried.
    mutating func skip(_ name: String, because reason: String) {
        steps.append(Step(name: name, state: .skipped, detail: reason, remedy: nil))
    }

    /// The report of a configuration that cannot be read: nothing else was tried.
    var skippingTheRest: CheckReport {
        var report = self
        for name in ["credentials", "broker", "apns"] { report.skip(name, because: "no configuration") }
        return report
    }

    /// The report for people.
    var lines: [String] {
        let width = steps.map(\.name.count).max() ?? 0
        return steps.flatMap { step in
            let head = "\(step.state.rawValue.padded(to: 7))  \(step.name.padded(to: width))  \(step.detail)"
            return step.remedy.map { [head, "\(String(repeating: " ", count: 9))→ \($0)"] } ?? [head]
        }
    }

    /// The report for programs, one object per step.
    var json: [JSON] {
        steps.map { step in
            .object([
                ("step", .text(step.name)), ("verdict", .text(step.state.rawValue)), ("detail", .text(step.detail)),
                ("remedy", .optional(step.remedy)),
            ])
        }
    }

    /// Prints the report.
    ///
    /// - Parameter format: For people or for programs.
    func print(_ format: OutputFormat) {
        switch format {
        case .text: for line in lines { Console.data(line, words: line.first == " " ? [:] : Ink.verdicts) }
        case .json: json.forEach { Console.data($0.bytes) }
        }
    }
}
