/// The keys of scenario files; `config/scenarios/scenario.schema.json` describes the same ones.
enum ScenarioKeys {
    /// Of the file itself.
    static let file = ["seed", "listen", "limits", "rules", "connections"]
    /// Of a rule for pushes.
    static let rule = ["name", "match", "when", "verdict"]
    /// Of what a rule for pushes is for.
    static let match = ["token", "topic", "address", "ratio", "each", "beyond"]
    /// Of a span of time.
    static let window = ["from", "until", "every"]
    /// Of a number of pushes in a span of time.
    static let rate = ["pushes", "per"]
    /// The keys of a verdict that say what is done; at most one is wanted.
    static let actions = ["accept", "reason", "silent", "reset", "goaway", "close", "lose", "freeze"]
    /// Of a verdict.
    static let verdict = actions + ["delay", "streams", "fail", "status", "timestamp", "retry_after"]
    /// Of a wait that is drawn for each push.
    static let latency = ["min", "max", "mean", "median", "p99"]
    /// Of a GOAWAY frame.
    static let goAway = ["code", "reason", "text", "reach", "twice", "stay_open"]
    /// Of a rule for connections.
    static let connection = [
        "name", "match", "when", "refuse", "mute", "round_trip", "certificate", "streams", "idle_timeout", "goaway",
        "close_after",
    ]
    /// Of what a rule for connections is for.
    static let connectionMatch = ["address", "ratio", "first"]
    /// Of a GOAWAY frame that comes by itself.
    static let goodbye = ["after", "after_pushes", "code", "reason", "text", "twice", "stay_open"]
    /// Of what the gateway puts up with.
    static let limits = [
        "errors_until_shrink", "errors_until_disconnect", "bad_device_token_weight", "connections_per_minute",
        "idle_timeout", "device_pushes", "channel_requests", "token_update_interval", "header_list",
    ]
}
