/// Why a command ends without doing all of its work.
struct CommandFailure: Error, CustomStringConvertible {
    /// The exit status.
    var status: CommandStatus
    /// What happened and where.
    var message: String
    /// What to do about it, where that is known.
    var remedy: String?
    /// What the broker has too little of, where that is known.
    var lack: Lack?

    /// What a broker may have too little of.
    enum Lack {
        /// A queue or an exchange that is named.
        case object
        /// Channels on a connection, or a way to log in.
        case means
    }

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - status: The exit status.
    ///   - message: What happened and where; never a password, a token or a payload.
    ///   - remedy: What to do about it.
    init(_ status: CommandStatus, _ message: String, remedy: String? = nil) {
        self.status = status
        self.message = message
        self.remedy = remedy
    }

    /// The same failure with one more piece of advice.
    ///
    /// - Parameter advice: What to do, or what was done. It follows the remedy on a line of its own.
    func advising(_ advice: String) -> CommandFailure {
        var failure = self
        failure.remedy = [remedy, advice].compactMap(\.self).joined(separator: "\n")
        return failure
    }

    /// The message, and the remedy on a line of its own.
    var description: String { remedy.map { "\(message)\n\($0)" } ?? message }
}
