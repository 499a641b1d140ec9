/// What a command's exit status tells a script; the numbers follow sysexits.h where it has a word for the case.
///
/// Thrown by a command that has said all there is to say and leaves with it.
///
/// [sysexits.h](https://man.openbsd.org/sysexits)
package enum CommandStatus: Int32, CaseIterable, Error {
    /// All went well.
    case ok = 0
    /// The command did its work, but some items failed: a rejected notification, an unreadable line.
    case someFailed = 1
    /// The command line is wrong.
    case usage = 64
    /// What was read is not what it should be: no JSON, no payload.
    case badInput = 65
    /// A file that was named is not there or cannot be read.
    case missingInput = 66
    /// The broker or APNs cannot be reached, or the broker has no such queue or exchange.
    case unreachable = 69
    /// A fault of Martlet's own.
    case internalFault = 70
    /// Standard output could not be written.
    case outputFailed = 74
    /// It did not work within its time; trying again later may help.
    case gaveUp = 75
    /// The broker or APNs refused: credentials, permissions, a key without a queue.
    case refused = 77
    /// The configuration is wrong.
    case configuration = 78
    /// The reader of standard output went away, as `head` does: what a shell reports for a program that SIGPIPE ended.
    case readerGone = 141
}
