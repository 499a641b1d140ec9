package import PushModel

/// The bodies of the enveloped jobs that runs publish.
package enum EnvelopedBody {
    /// A body. Its parts must need no escapes.
    ///
    /// - Parameters:
    ///   - id: The job's id.
    ///   - tokens: Its device tokens; several make a multicast job.
    ///   - fields: Other fields, as JSON.
    ///   - payload: The payload, as JSON.
    package static func text(
        id: String, tokens: [String], fields: [(JobField, String)] = [], payload: String
    ) -> String {
        let quoted = tokens.map { "\"\($0)\"" }
        let recipients: (JobField, String) =
            quoted.count == 1
            ? (.deviceToken, quoted[0]) : (.deviceTokens, "[\(quoted.joined(separator: ","))]")
        let all = [(.id, "\"\(id)\""), recipients] + fields + [(.payload, payload)]
        return "{\(all.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }
}
