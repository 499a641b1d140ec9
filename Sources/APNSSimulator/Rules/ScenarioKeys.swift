/// The keys of scenario files; `config/scenarios/scenario.schema.json` describes the same ones.
enum ScenarioKeys {
    /// The keys of the file itself.
    static let file = ["seed", "listen", "limits", "rules", "connections"]
    /// The keys of a rule for pushes.
    static let rule = ["name", "match", "when", "verdict"]
    /// The keys of `match` in a rule for pushes.
    static let match = ["token", "topic", "address", "ratio", "each", "beyond"]
    /// The keys of a span of time.
    static let window = ["from", "until", "every"]
    /// The keys of a number of pushes in a span of time.
    static let rate = ["pushes", "per"]
    /// The keys of a verdict that say what is done; a verdict has at most one of them.
    static let actions = ["accept", "reason", "silent", "reset", "goaway", "close", "lose", "freeze", "gateway"]
    /// The keys of a verdict.
    static let verdict = actions + ["delay", "streams", "fail", "status", "timestamp", "retry_after"]
    /// The keys of a delay that is drawn for each push.
    static let latency = ["min", "max", "mean", "median", "p99"]
    /// The keys of an answer of a gateway on the way to APNs.
    static let gateway = ["status", "body"]
    /// The keys of a GOAWAY frame.
    static let goAway = ["code", "reason", "text", "reach", "twice", "stay_open"]
    /// The keys of a rule for connections.
    static let connection = [
        "name", "match", "when", "refuse", "mute", "round_trip", "certificate", "streams", "idle_timeout", "goaway",
        "close_after",
    ]
    /// The keys of `match` in a rule for connections.
    static let connectionMatch = ["address", "ratio", "first"]
    /// The keys of a GOAWAY frame that the gateway sends after a time or a number of pushes.
    static let goodbye = ["after", "after_pushes", "code", "reason", "text", "twice", "stay_open"]
    /// The keys of what the gateway tolerates.
    static let limits = [
        "errors_until_shrink", "errors_until_disconnect", "bad_device_token_weight", "connections_per_minute",
        "idle_timeout", "device_pushes", "channel_requests", "token_update_interval", "header_list",
    ]
}
