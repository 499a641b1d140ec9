import ArgumentParser
import PushWorker

/// A rate on the command line: `500/s`, or `off`.
struct RateArgument: ExpressibleByArgument, Equatable {
    /// Notifications a second; nil for `off`.
    var perSecond: Double?

    /// Reads a rate; `nil` for other text, and for a rate outside the range that commands may have.
    init?(argument: String) {
        guard argument != "off" else { return }
        let number = argument.dropLast(2)
        // Double reads more than people write: exponents, signs, hexadecimal digits, `nan`.
        guard argument.hasSuffix("/s"), number.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }),
            let rate = Double(number), (ControlCommand.leastRate...ControlCommand.highestRate).contains(rate)
        else { return nil }
        perSecond = rate
    }
}
