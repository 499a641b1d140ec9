/// The exit status of a command. The numbers are those of sysexits.h where it has a name for the case.
///
/// A command throws it when it has already printed everything, and only the status is left.
///
/// [sysexits.h](https://man.openbsd.org/sysexits)
package enum CommandStatus: Int32, CaseIterable, Error {
    /// All went well.
    case ok = 0
    /// The command did its work, but some items failed: a rejected notification, an unreadable line.
    case someFailed = 1
    /// The command line is wrong.
    case usage = 64
    /// The input is not what it should be: no JSON, no payload.
    case badInput = 65
    /// A file that was named is not there or cannot be read.
    case missingInput = 66
    /// The broker or APNs cannot be reached, or the broker has no such queue or exchange.
    case unreachable = 69
    /// A fault of Martlet's own.
    case internalFault = 70
    /// Standard output could not be written.
    case outputFailed = 74
    /// The command gave up: it was out of time, was interrupted, or was not allowed to go on. Trying again may help.
    case gaveUp = 75
    /// The broker or APNs refused: credentials, permissions, a key without a queue.
    case refused = 77
    /// The configuration is wrong.
    case configuration = 78
    /// The reader of standard output went away, as `head` does. A shell reports this number for a program that SIGPIPE
    /// ended.
    case readerGone = 141
}
