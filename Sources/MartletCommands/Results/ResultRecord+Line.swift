import Rig

extension ResultRecord {
    /// The result on one line for people; of the token only enough to recognise it.
    var line: String {
        var parts: [String] = []
        if let finishedAt { parts.append(TimeText.moment(finishedAt)) }
        parts.append(outcome.padded(to: 10))
        if status != nil || reason != nil {
            parts.append([status.map(String.init), reason].compactMap(\.self).joined(separator: " "))
        }
        parts.append("\(jobID ?? "-")#\(index)")
        if let topic { parts.append("\(topic) (\(environment ?? "-"))") }
        if let deviceToken { parts.append("token \(deviceToken.prefix(8))…") }
        if let operation { parts.append(operation) }
        if let channelID { parts.append("channel \(channelID)") }
        if let storagePolicy { parts.append("storage policy \(storagePolicy)") }
        if let channels { parts.append("\(channels.count) channels: \(channels.joined(separator: " "))") }
        if let attempt, attempt > 1 { parts.append("attempt \(attempt)") }
        if redelivered == true { parts.append("redelivered") }
        if let apnsMilliseconds { parts.append(TimeText.length(apnsMilliseconds)) }
        if let reference { parts.append(reference) }
        if let detail { parts.append("— \(detail)") }
        return parts.joined(separator: "  ")
    }
}
