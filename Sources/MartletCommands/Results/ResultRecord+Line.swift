import Glibc
import Rig
import Text

extension ResultRecord {
    /// Prints the result for people. A file or pipe gets the whole line; a terminal gets as much as fits, in colour.
    func print() {
        Console.data(line(width: Console.size(STDOUT_FILENO)?.columns), words: Ink.verdicts)
    }

    /// The result on one line for people. It has only the first 8 characters of the device token.
    ///
    /// - Parameter width: The columns of the terminal: the time then has no date, and the line is cut at its end. Nil
    ///   for the whole line.
    func line(width: Int? = nil) -> String {
        var parts: [String] = []
        if let finishedAt {
            let moment = DateTime.write(finishedAt, withMilliseconds: true)
            parts.append(width == nil ? moment : String(moment.dropFirst(11).prefix(12)))
        }
        parts.append(outcome.padded(to: 10))
        if status != nil || reason != nil {
            parts.append([status.map(String.init), reason].compactMap(\.self).joined(separator: " "))
        }
        parts.append("\(jobID ?? "-")#\(index)")
        if let topic { parts.append("\(topic) (\(environment ?? "-"))") }
        if let deviceToken { parts.append("token \(deviceToken.prefix(8))…") }
        if let operation { parts.append(operation) }
        if let channelID { parts.append("broadcast channel \(channelID)") }
        if let storagePolicy { parts.append("storage policy \(storagePolicy)") }
        if let listed = broadcastChannels {
            parts.append("\(listed.count) broadcast channels: \(listed.joined(separator: " "))")
        }
        if let attempt, attempt > 1 { parts.append("attempt \(attempt)") }
        if redelivered == true { parts.append("redelivered") }
        if let apnsMilliseconds { parts.append(TimeText.length(apnsMilliseconds)) }
        if let reference { parts.append(reference) }
        if let detail { parts.append("— \(detail)") }
        let line = parts.joined(separator: "  ")
        guard let width, line.count > width else { return line }
        return "\(line.prefix(width - 1))…"
    }
}
